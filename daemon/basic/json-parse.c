/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements json-parse.h with json-c. json-c says nothing about numbers that it cannot hold, so they are found in the
 * text. */

#include <errno.h>
#include <glib.h>
#include <json-c/json_tokener.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/json-parse.h"

/* Returns the first number in JSON text that does not fit, or NULL. json-c takes NaN and Infinity for numbers. */
static const char *find_misfit(const char *text, size_t *ret_length) {
        while (*(text += strcspn(text, "\"-0123456789NI"))) {
                g_autofree char *digits = NULL;
                bool fits;

                if (*text == '"') {
                        /* The string may have no end. */
                        for (text++; *text && *text != '"'; text++)
                                text += *text == '\\' && text[1];
                        text += *text == '"';
                        continue;
                }

                *ret_length = strcspn(text, ",]} \t\r\n");
                digits = g_strndup(text, *ret_length);
                if (strpbrk(digits, ".eE"))
                        fits = isfinite(g_ascii_strtod(digits, NULL));
                else
                        fits = g_ascii_string_to_signed(digits, 10, INT64_MIN, INT64_MAX, NULL, NULL) ||
                               g_ascii_string_to_unsigned(digits, 10, 0, UINT64_MAX, NULL, NULL);
                if (!fits)
                        return text;
                text += *ret_length;
        }

        return NULL;
}

static bool tokenize(const char *text, size_t length, int depth, int flags, json_object **ret_value) {
        json_tokener *tokener = json_tokener_new_ex(depth + 1);
        json_object *value;
        bool valid;

        json_tokener_set_flags(tokener, flags);
        /* The NUL is included, because it ends a number. */
        value = json_tokener_parse_ex(tokener, text, (int) MIN(length + 1, INT_MAX));
        valid = json_tokener_get_error(tokener) == json_tokener_success &&
                json_tokener_get_parse_end(tokener) >= length;
        json_tokener_free(tokener);

        if (valid)
                *ret_value = value;
        else
                json_object_put(value);
        return valid;
}

/* Counts the levels, and makes what json-c's strict mode judges alike in all versions: 0.16 accepts control characters
 * in strings, and 0.18 refuses all characters beyond ASCII (json-c bug 875). A "~" takes their place: in a string it is
 * as good as they are, and elsewhere it is as bad. -EINVAL: a string has a control character, or a key a NUL, at which
 * json-c would cut it. */
static int to_ascii(const char *text, size_t length, int depth, char **ret_ascii) {
        g_autofree char *ascii = g_memdup2(text, length + 1);
        bool string = false, escaped = false, nul = false;
        int level = 0;

        for (char *c = ascii; c < ascii + length; c++) {
                if ((uint8_t) *c >= 0x80)
                        *c = '~';
                if (string && *c < ' ')
                        return -EINVAL;
                if (!string)
                        level += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
                if (level > depth)
                        return -E2BIG;
                nul |= string && !escaped && *c == '\\' && g_str_has_prefix(c, "\\u0000");
                if (!escaped && *c == '"') {
                        if (nul && string && c[1 + strspn(c + 1, " \t\r\n")] == ':')
                                return -EINVAL;
                        string = !string;
                        nul = false;
                }
                escaped = *c == '\\' && !escaped;
        }

        *ret_ascii = g_steal_pointer(&ascii);
        return 0;
}

int json_parse(const char *text, size_t length, int depth, json_object **ret_value, char **ret_number) {
        g_autofree char *ascii = NULL;
        g_autoptr(json_object) value = NULL;
        json_object *strict;
        const char *misfit;
        int r = to_ascii(text, length, depth, &ascii);

        if (r < 0)
                return r;
        if (!g_utf8_validate_len(text, length, NULL) ||
            !tokenize(text, length, depth, JSON_TOKENER_VALIDATE_UTF8, &value))
                return -EINVAL;

        /* In strict mode, 0.18 finds some of these numbers itself. */
        misfit = find_misfit(text, &length);
        if (misfit) {
                *ret_number = excerpt(misfit, length);
                return -ERANGE;
        }
        if (!tokenize(ascii, strlen(ascii), depth, JSON_TOKENER_STRICT, &strict))
                return -EINVAL;

        json_object_put(strict);
        *ret_value = g_steal_pointer(&value);
        return 0;
}

json_object *json_member(json_object *json, const char *name, json_type type) {
        json_object *value = json_object_object_get(json, name);

        return json_object_is_type(value, type) ? value : NULL;
}

const char *json_member_text(json_object *json, const char *name) {
        return json_object_get_string(json_member(json, name, json_type_string));
}
