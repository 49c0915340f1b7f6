/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements instance.h. */

#include <errno.h>
#include <glib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/unit-escape.h"
#include "run/instance.h"

#define NAME_MAX_LENGTH 100u
#define PLAIN G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.:-"

int instance_check(const char *name, char **ret_error) {
        size_t length = strlen(name);
        bool is_name = length <= NAME_MAX_LENGTH && strspn(name, PLAIN "\\") == length;
        g_autofree char *text = is_name ? unit_unescape(name, false) : NULL, *shown = NULL;

        if (text)
                return 0;

        shown = excerpt(name, length);
        *ret_error =
                g_strdup_printf("'%s' cannot be the name of an instance; it consists of letters, digits, '_', '.', "
                                "':' and '-', %u at most; another character is escaped, such as a space as '\\x20'",
                                shown, NAME_MAX_LENGTH);
        return -EINVAL;
}

char *instance_name(const char *text, bool escaped) {
        GString *name = g_string_sized_new(strlen(text));

        for (const char *p = text; *p; p++) {
                bool is_escape =
                        escaped && *p == '\\' && p[1] == 'x' && g_ascii_isxdigit(p[2]) && g_ascii_isxdigit(p[3]);

                if (strchr(PLAIN, *p) || is_escape)
                        g_string_append_c(name, *p);
                else
                        g_string_append_printf(name, "\\x%02x", (unsigned char) *p);
        }

        return g_string_free(name, FALSE);
}

char *instance_text(const char *name) {
        return unit_unescape(name, false);
}
