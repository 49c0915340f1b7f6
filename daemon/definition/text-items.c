/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Gives access to the items of a text: their places, and the content of strings. */

#include <string.h>

#include "basic/excerpt.h"
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

char *text_describe(const Text *text, uint32_t item) {
        const TextItem *value = text_item(text, item);
        g_autofree char *shown = NULL;

        if (value->kind == TEXT_ARRAY)
                return g_strdup("an array");
        if (value->kind == TEXT_OBJECT)
                return g_strdup("an object");

        shown = excerpt(text->text + value->start, value->end - value->start);
        return value->kind == TEXT_STRING ? g_strdup_printf("\"%s\"", shown) : g_steal_pointer(&shown);
}
