/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Adds items, and formats the errors of a text, for text.c and text-scalars.c. */

#include "definition/text-reader.h"
#include "basic/excerpt.h"

TextItem *text_innermost(const TextReader *reader) {
        if (reader->open->len == 0)
                return NULL;

        return &reader->items[g_array_index(reader->open, uint32_t, reader->open->len - 1)];
}

uint32_t text_here(const TextReader *reader) {
        return (uint32_t) (reader->p - reader->text);
}

bool text_fail(TextReader *reader, const char *at, const char *format, ...) {
        va_list args;

        va_start(args, format);
        reader->error = g_strdup_vprintf(format, args);
        reader->error_at = at;
        va_end(args);
        return false;
}

static unsigned line_of(const TextReader *reader, uint32_t offset) {
        unsigned line = 1;

        for (const char *p = reader->text; p < reader->text + offset; p++)
                line += *p == '\n';

        return line;
}

/* "; the '{' in line 7 is not closed", since that may be many lines above. Empty if no bracket is open, or if the
 * character at p would close it. */
static char *unclosed(TextReader *reader) {
        const TextItem *open = text_innermost(reader);
        bool object;

        if (!open)
                return g_strdup("");

        object = open->kind == TEXT_OBJECT;
        if (reader->p < reader->end && *reader->p != (object ? ']' : '}'))
                return g_strdup("");

        return g_strdup_printf("; the '%c' in line %u is not closed", object ? '{' : '[', line_of(reader, open->start));
}

bool text_cut_off(TextReader *reader, const char *expected) {
        g_autofree char *open = NULL;

        reader->p = reader->end;
        open = unclosed(reader);
        return text_fail(reader, reader->end, "unexpected end of file: expected %s%s", expected, open);
}

bool text_unexpected(TextReader *reader, const char *expected) {
        g_autofree char *found = NULL, *open = NULL;

        if (reader->p == reader->end)
                return text_cut_off(reader, expected);

        found = excerpt(reader->p, (size_t) (g_utf8_next_char(reader->p) - reader->p));
        open = unclosed(reader);
        return text_fail(reader, reader->p, "expected %s, not '%s'%s", expected, found, open);
}

bool text_add_item(TextReader *reader, TextKind kind, const char *start, bool escaped) {
        if (reader->n_items >= TEXT_ITEMS_MAX)
                return text_fail(reader, start, "the file is too large: it has more than %u values", TEXT_ITEMS_MAX);

        if (reader->n_items == reader->n_room) {
                reader->n_room *= 2;
                reader->items = g_renew(TextItem, reader->items, reader->n_room);
        }

        reader->items[reader->n_items] = (TextItem){ .start = (uint32_t) (start - reader->text),
                                                     .end = text_here(reader),
                                                     .next = reader->n_items + 1,
                                                     .kind = kind,
                                                     .escaped = escaped };
        reader->n_items++;
        return true;
}
