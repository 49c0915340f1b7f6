/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shortens text for messages. The limit counts characters, not bytes, so that no character is cut in two. */

#include <string.h>

#include "basic/excerpt.h"

#define EXCERPT_MAX 60u
#define REPLACEMENT_CHARACTER 0xfffdu

bool character_is_control(gunichar c) {
        return g_unichar_iscntrl(c) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
               (c >= 0x2066 && c <= 0x2069);
}

char *excerpt(const char *text, size_t length) {
        GString *quoted = g_string_new(NULL);
        const char *end = text + length;
        size_t n = 0;

        for (const char *p = text; p < end;) {
                gunichar c = g_utf8_get_char_validated(p, end - p);
                bool valid = c < 0x110000;

                if (n++ == EXCERPT_MAX) {
                        g_string_append(quoted, "...");
                        break;
                }
                p = valid ? g_utf8_next_char(p) : p + 1;

                if (c == '\n')
                        g_string_append(quoted, "\\n");
                else if (c == '\t')
                        g_string_append(quoted, "\\t");
                else if (valid && character_is_control(c))
                        g_string_append_printf(quoted, "\\u%04x", c);
                else
                        g_string_append_unichar(quoted, valid ? c : REPLACEMENT_CHARACTER);
        }

        return g_string_free(quoted, false);
}

char *text_cut(const char *text, size_t max) {
        size_t length = strnlen(text, max + 1);

        if (length <= max)
                return g_strdup(text);

        while (max > 0 && ((unsigned char) text[max] & 0xc0) == 0x80)
                max--;
        return g_strdup_printf("%.*s...", (int) max, text);
}
