/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements escape.h. "\\u" is followed by a UTF-16 code unit: a character above 65535 is written as two escapes, and
 * both are needed. */

#include <stdbool.h>
#include <string.h>

#include "basic/excerpt.h"
#include "definition/escape.h"

/* The letters of the short escapes, and their values. */
static const char short_names[] = "\"\\/bfnrt", short_values[] = "\"\\/\b\f\n\r\t";

/* The value of the four digits at p, or -1. */
static int hex4(const char *p) {
        int code = 0;

        for (int i = 0; i < 4; i++) {
                int digit = g_ascii_xdigit_value(p[i]);

                if (digit < 0)
                        return -1;
                code = code * 16 + digit;
        }

        return code;
}

static bool is_high_surrogate(int code) {
        return code >= 0xd800 && code < 0xdc00;
}

static bool is_low_surrogate(int code) {
        return code >= 0xdc00 && code < 0xe000;
}

static const char *check_unicode(const char *p, char **ret_error) {
        int code = hex4(p + 2);

        if (code < 0)
                *ret_error = g_strdup("'\\u' takes four hexadecimal digits");
        else if (code == 0)
                *ret_error = g_strdup("'\\u0000' is not allowed: no text may contain a NUL");
        else if (is_low_surrogate(code))
                *ret_error = g_strdup_printf("'\\u%04x' is the second half of a character without the first", code);
        else if (!is_high_surrogate(code))
                return p + 6;
        else if (p[6] == '\\' && p[7] == 'u' && is_low_surrogate(hex4(p + 8)))
                return p + 12;
        else
                *ret_error = g_strdup_printf("'\\u%04x' is the first half of a character without the second", code);

        return NULL;
}

const char *escape_check(const char *p, char **ret_error) {
        g_autofree char *shown = NULL;

        if (p[1] == 'u')
                return check_unicode(p, ret_error);
        if (strchr(short_names, p[1]))
                return p + 2;

        shown = excerpt(p, (size_t) (g_utf8_next_char(p + 1) - p));
        *ret_error = g_strdup_printf("'%s' is no escape; a backslash itself is written '\\\\'", shown);
        return NULL;
}

const char *escape_append(GString *string, const char *p) {
        int code;

        if (p[1] != 'u') {
                g_string_append_c(string, short_values[strchr(short_names, p[1]) - short_names]);
                return p + 2;
        }

        code = hex4(p + 2);
        if (!is_high_surrogate(code)) {
                g_string_append_unichar(string, (gunichar) code);
                return p + 6;
        }

        g_string_append_unichar(string, 0x10000 + (((gunichar) code & 0x3ff) << 10 | ((gunichar) hex4(p + 8) & 0x3ff)));
        return p + 12;
}
