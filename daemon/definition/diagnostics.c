/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines and columns are found in one pass over the text at the end, and only when there is something to show. */

#include <string.h>

#include "definition/diagnostics.h"

/* A path is shown from its end: at most so many bytes of it. */
#define WHERE_MAX 300u

typedef struct Entry {
        Diagnostic diagnostic; /* first, since it is what others see */
        size_t offset;
        size_t order; /* as added: what stands at one place stays in this order */
} Entry;

struct Diagnostics {
        char *file;
        GPtrArray *entries; /* of Entry */
        size_t n_errors;
        size_t n_dropped; /* beyond DIAGNOSTICS_MAX */
};

static void on_entry_dropped(void *userdata) {
        Entry *entry = userdata;

        g_free(entry->diagnostic.where);
        g_free(entry->diagnostic.text);
        g_free(entry);
}

Diagnostics *diagnostics_new(const char *file) {
        Diagnostics *diagnostics = g_new0(Diagnostics, 1);

        diagnostics->file = g_strdup(file);
        diagnostics->entries = g_ptr_array_new_with_free_func(on_entry_dropped);
        return diagnostics;
}

void diagnostics_free(Diagnostics *diagnostics) {
        if (!diagnostics)
                return;

        g_ptr_array_unref(diagnostics->entries);
        g_free(diagnostics->file);
        g_free(diagnostics);
}

size_t diagnostics_count(const Diagnostics *diagnostics) {
        return diagnostics->entries->len;
}

size_t diagnostics_count_errors(const Diagnostics *diagnostics) {
        return diagnostics->n_errors;
}

const Diagnostic *diagnostics_get(const Diagnostics *diagnostics, size_t i) {
        return g_ptr_array_index(diagnostics->entries, i);
}

char *diagnostics_format(const Diagnostics *diagnostics, size_t i) {
        const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);
        GString *line = g_string_new(diagnostics->file);

        if (diagnostic->line > 0)
                g_string_append_printf(line, ":%u:%u", diagnostic->line, diagnostic->column);

        g_string_append_printf(line, ": %s: %s", diagnostic->warning ? "warning" : "error", diagnostic->text);
        if (diagnostic->where)
                g_string_append_printf(line, " (in %s)", diagnostic->where);

        return g_string_free(line, false);
}

bool diagnostics_is_full(const Diagnostics *diagnostics) {
        return diagnostics->entries->len >= DIAGNOSTICS_MAX;
}

static char *shorten_path(char *path) {
        g_autofree char *full = path;
        size_t length = path ? strlen(path) : 0;
        const char *tail;

        if (length <= WHERE_MAX)
                return g_steal_pointer(&full);

        tail = full + length - WHERE_MAX;
        while ((*tail & 0xc0) == 0x80)
                tail++;

        return g_strconcat("...", tail, NULL);
}

void diagnostics_add(Diagnostics *diagnostics, size_t offset, bool warning, char *where, char *text) {
        Entry *entry = g_new0(Entry, 1);

        entry->diagnostic = (Diagnostic){ .warning = warning, .where = shorten_path(where), .text = text };
        entry->offset = offset;
        entry->order = diagnostics->entries->len;
        diagnostics->n_errors += !warning;

        if (!diagnostics_is_full(diagnostics)) {
                g_ptr_array_add(diagnostics->entries, entry);
                return;
        }

        diagnostics->n_dropped++;
        on_entry_dropped(entry);
}

static int compare_entries(const void *a, const void *b) {
        const Entry *x = *(Entry *const *) a, *y = *(Entry *const *) b;

        if (x->offset != y->offset)
                return x->offset < y->offset ? -1 : 1;

        return x->order < y->order ? -1 : x->order > y->order;
}

void diagnostics_locate(Diagnostics *diagnostics, const char *text, size_t length) {
        unsigned line = 1, column = 1;
        size_t at = 0;

        g_ptr_array_sort(diagnostics->entries, compare_entries);

        for (size_t i = 0; i < diagnostics->entries->len; i++) {
                Entry *entry = g_ptr_array_index(diagnostics->entries, i);

                if (entry->offset > length)
                        continue;

                for (; at < entry->offset; at++)
                        if (text[at] == '\n') {
                                line++;
                                column = 1;
                        } else if ((text[at] & 0xc0) != 0x80)
                                column++;

                entry->diagnostic.line = line;
                entry->diagnostic.column = column;
        }

        if (diagnostics->n_dropped > 0) {
                Entry *rest = g_new0(Entry, 1);

                rest->diagnostic.text = g_strdup_printf("%zu more like these are not shown", diagnostics->n_dropped);
                rest->offset = DIAGNOSTICS_NOWHERE;
                g_ptr_array_add(diagnostics->entries, rest);
                diagnostics->n_dropped = 0;
        }
}
