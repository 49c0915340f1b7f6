/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements diagnostics.h. Lines and columns are computed in one pass over the text at the end, and only if there are
 * entries. */

#include <string.h>

#include "definition/diagnostics.h"
#include "definition/text/text.h"

/* The maximum length of a path in a message, in bytes. Longer ones are cut at their beginning. */
#define WHERE_MAX 300u

typedef struct Entry {
        Diagnostic diagnostic; /* first, so that a pointer to the entry is one to the diagnostic */
        unsigned file;
        size_t offset;
        bool inside;  /* of a string */
        size_t order; /* of adding; entries with the same offset keep it */
} Entry;

struct Diagnostics {
        GPtrArray *files;   /* of char */
        GPtrArray *entries; /* of Entry */
        size_t n_errors;
        size_t n_dropped; /* beyond DIAGNOSTICS_MAX */
        Entry *last;      /* the newest one; NULL: it was dropped */
};

static void on_entry_dropped(void *userdata) {
        Entry *entry = userdata;

        g_free(entry->diagnostic.where);
        g_free(entry->diagnostic.text);
        g_free(entry->diagnostic.instead);
        g_free(entry);
}

Diagnostics *diagnostics_new(const char *file) {
        Diagnostics *diagnostics = g_new0(Diagnostics, 1);

        diagnostics->files = g_ptr_array_new_with_free_func(g_free);
        diagnostics_add_file(diagnostics, file);
        diagnostics->entries = g_ptr_array_new_with_free_func(on_entry_dropped);
        return diagnostics;
}

void diagnostics_free(Diagnostics *diagnostics) {
        if (!diagnostics)
                return;

        g_ptr_array_unref(diagnostics->entries);
        g_ptr_array_unref(diagnostics->files);
        g_free(diagnostics);
}

unsigned diagnostics_add_file(Diagnostics *diagnostics, const char *file) {
        g_ptr_array_add(diagnostics->files, g_strdup(file));
        return diagnostics->files->len - 1;
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
        GString *line = g_string_new(diagnostic->file);

        if (diagnostic->line > 0)
                g_string_append_printf(line, ":%u:%u", diagnostic->line, diagnostic->column);

        g_string_append_printf(line, ": %s: %s", diagnostic->warning ? "warning" : "error", diagnostic->text);
        if (diagnostic->where)
                g_string_append_printf(line, " (in %s)", diagnostic->where);

        return g_string_free(line, false);
}

char *diagnostics_format_error(const Diagnostics *diagnostics) {
        size_t i = 0;

        while (i < diagnostics->entries->len && diagnostics_get(diagnostics, i)->warning)
                i++;

        return i < diagnostics->entries->len ? diagnostics_format(diagnostics, i) : NULL;
}

bool diagnostics_is_full(const Diagnostics *diagnostics) {
        return diagnostics->entries->len >= DIAGNOSTICS_MAX;
}

void diagnostics_add(Diagnostics *diagnostics, unsigned file, size_t offset, bool warning, char *where, char *text) {
        Entry *entry = g_new0(Entry, 1);
        size_t length = where ? strlen(where) : 0;

        if (length > WHERE_MAX) {
                g_autofree char *full = where;
                const char *tail = full + length - WHERE_MAX;

                while ((*tail & 0xc0) == 0x80)
                        tail++;
                where = g_strconcat("...", tail, NULL);
        }

        entry->diagnostic = (Diagnostic){
                .file = g_ptr_array_index(diagnostics->files, file), .warning = warning, .where = where, .text = text
        };
        entry->file = file;
        entry->offset = offset;
        entry->order = diagnostics->entries->len;
        diagnostics->n_errors += !warning;

        diagnostics->last = diagnostics_is_full(diagnostics) ? NULL : entry;
        if (diagnostics->last) {
                g_ptr_array_add(diagnostics->entries, entry);
                return;
        }

        diagnostics->n_dropped++;
        on_entry_dropped(entry);
}

void diagnostics_suggest(Diagnostics *diagnostics, const char *instead) {
        if (!diagnostics->last || !instead)
                return;

        g_free(diagnostics->last->diagnostic.instead);
        diagnostics->last->diagnostic.instead = g_strdup(instead);
}

void diagnostics_set_inside(Diagnostics *diagnostics) {
        if (diagnostics->last)
                diagnostics->last->inside = true;
}

static int compare_entries(const void *a, const void *b) {
        const Entry *x = *(Entry *const *) a, *y = *(Entry *const *) b;

        if (x->file != y->file)
                return x->file < y->file ? -1 : 1;
        if (x->offset != y->offset)
                return x->offset < y->offset ? -1 : 1;

        return x->order < y->order ? -1 : x->order > y->order;
}

/* A file that is included twice reports its errors twice. */
static void drop_repeated(Diagnostics *diagnostics) {
        unsigned kept = 0;

        for (unsigned i = 0; i < diagnostics->entries->len; i++) {
                Entry *entry = g_ptr_array_index(diagnostics->entries, i),
                      *last = kept > 0 ? g_ptr_array_index(diagnostics->entries, kept - 1) : NULL;

                if (last && last->file == entry->file && last->offset == entry->offset &&
                    g_str_equal(last->diagnostic.text, entry->diagnostic.text))
                        diagnostics->n_errors -= !entry->diagnostic.warning;
                else {
                        g_ptr_array_index(diagnostics->entries, i) = g_ptr_array_index(diagnostics->entries, kept);
                        g_ptr_array_index(diagnostics->entries, kept++) = entry;
                }
        }

        g_ptr_array_set_size(diagnostics->entries, (int) kept);
}

static bool is_word(char c) {
        return g_ascii_isalnum(c) || strchr("_-+.@", c) || c & 0x80;
}

/* The length of the string, word or number that begins at p; for anything else, 1. inside: p is inside a string, so a
 * quote does not begin one. */
static size_t token_length(const char *p, size_t n_left, bool inside) {
        size_t length = 1;

        if (n_left == 0)
                return 0;
        if (*p == '"' && !inside) {
                while (length < n_left && p[length] != '"' && p[length] != '\n')
                        length += p[length] == '\\' && length + 1 < n_left ? 2 : 1;

                return length < n_left && p[length] == '"' ? length + 1 : length;
        }

        while (is_word(*p) && length < n_left && p[length] && is_word(p[length]))
                length++;
        return length;
}

/* Sets the places of the entries of one file, of which first is the first one. Returns the index after the last one. */
static unsigned locate_in_file(Diagnostics *diagnostics, unsigned first, const DiagnosticsText *text) {
        unsigned line = 1, column = 1, file = ((Entry *) g_ptr_array_index(diagnostics->entries, first))->file, i;
        size_t at = text->text && g_str_has_prefix(text->text, BYTE_ORDER_MARK) ? strlen(BYTE_ORDER_MARK) : 0;

        for (i = first; i < diagnostics->entries->len; i++) {
                Entry *entry = g_ptr_array_index(diagnostics->entries, i);
                size_t end;

                if (entry->file != file)
                        break;
                if (!text->text || entry->offset > text->length)
                        continue;

                for (; at < entry->offset; at++)
                        if (text->text[at] == '\n') {
                                line++;
                                column = 1;
                        } else if ((text->text[at] & 0xc0) != 0x80)
                                column++;

                entry->diagnostic.line = line;
                entry->diagnostic.column = column;
                entry->diagnostic.end_line = line;
                entry->diagnostic.end_column = column;
                end = at + token_length(text->text + at, text->length - at, entry->inside);
                for (size_t byte = at; byte < end; byte++)
                        entry->diagnostic.end_column += (text->text[byte] & 0xc0) != 0x80;
        }

        return i;
}

void diagnostics_locate(Diagnostics *diagnostics, const DiagnosticsText *texts) {
        g_ptr_array_sort(diagnostics->entries, compare_entries);
        drop_repeated(diagnostics);

        for (unsigned i = 0; i < diagnostics->entries->len;) {
                const Entry *entry = g_ptr_array_index(diagnostics->entries, i);

                i = locate_in_file(diagnostics, i, &texts[entry->file]);
        }

        if (diagnostics->n_dropped > 0) {
                Entry *rest = g_new0(Entry, 1);

                rest->diagnostic.file = g_ptr_array_index(diagnostics->files, 0);
                rest->diagnostic.text = g_strdup_printf("%zu more like these are not shown", diagnostics->n_dropped);
                rest->offset = DIAGNOSTICS_NOWHERE;
                g_ptr_array_add(diagnostics->entries, rest);
                diagnostics->n_dropped = 0;
        }
}
