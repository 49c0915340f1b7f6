/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Items of a text that has been read: where they stand, and the strings among them. */

#include <string.h>

#include "definition/escape.h"
#include "definition/text.h"

void text_clear(Text *text) {
        g_clear_pointer(&text->items, g_free);
}

size_t text_offset(const Text *text, uint32_t item) {
        const TextItem *i = text_item(text, item);

        return i->kind == TEXT_STRING ? i->start - 1 : i->start;
}

size_t text_offset_inside(const Text *text, uint32_t item, size_t byte, GString *scratch) {
        const TextItem *i = text_item(text, item);
        const char *p = text->text + i->start, *end = text->text + i->end;

        if (!i->escaped)
                return MIN(i->start + byte, i->end);

        g_string_truncate(scratch, 0);
        while (p < end) {
                size_t before = scratch->len;
                const char *next = p + 1;

                if (*p == '\\')
                        next = escape_append(scratch, p);
                else
                        g_string_append_c(scratch, *p);
                if (before <= byte && byte < scratch->len)
                        break;
                p = next;
        }

        return (size_t) (p - text->text);
}

const char *text_string(const Text *text, uint32_t item, GString *scratch, size_t *ret_length) {
        const TextItem *i = text_item(text, item);
        const char *p = text->text + i->start, *end = text->text + i->end;

        if (!i->escaped) {
                *ret_length = i->end - i->start;
                return p;
        }

        g_string_truncate(scratch, 0);
        while (p < end) {
                const char *backslash = memchr(p, '\\', (size_t) (end - p)) ?: end;

                g_string_append_len(scratch, p, backslash - p);
                p = backslash < end ? escape_append(scratch, backslash) : end;
        }

        *ret_length = scratch->len;
        return scratch->str;
}
