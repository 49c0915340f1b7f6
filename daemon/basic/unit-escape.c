/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements unit-escape.h. */

#include <glib.h>
#include <string.h>

#include "basic/unit-escape.h"

#define PLAIN G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ":_."

char *unit_escape(const char *text) {
        GString *escaped = g_string_sized_new(strlen(text));

        for (const char *p = text; *p; p++)
                if (*p == '/')
                        g_string_append_c(escaped, '-');
                else if (strchr(PLAIN, *p) && !(p == text && *p == '.'))
                        g_string_append_c(escaped, *p);
                else
                        g_string_append_printf(escaped, "\\x%02x", (unsigned char) *p);

        return g_string_free(escaped, FALSE);
}

char *unit_escape_path(const char *path) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);
        g_autoptr(GString) simple = g_string_new(NULL);

        for (char **part = parts; *part; part++) {
                if (g_str_equal(*part, ".."))
                        return NULL;
                if (**part != '\0' && !g_str_equal(*part, "."))
                        g_string_append_printf(simple, "%s%s", simple->len > 0 ? "/" : "", *part);
        }

        return simple->len == 0 ? g_strdup("-") : unit_escape(simple->str);
}

char *unit_unescape(const char *escaped, bool dashes) {
        g_autoptr(GString) text = g_string_sized_new(strlen(escaped));

        for (const char *p = escaped; *p; p++)
                if (*p == '-' && dashes)
                        g_string_append_c(text, '/');
                else if (*p != '\\')
                        g_string_append_c(text, *p);
                else if (p[1] == 'x' && g_ascii_isxdigit(p[2]) && g_ascii_isxdigit(p[3])) {
                        g_string_append_c(text, (char) (g_ascii_xdigit_value(p[2]) << 4 | g_ascii_xdigit_value(p[3])));
                        p += 3;
                } else
                        return NULL;

        /* This also refuses a NUL character. */
        return g_utf8_validate_len(text->str, text->len, NULL) ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}
