/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "loaded.h"

#include <errno.h>
#include <string.h>

char *loaded_messages(const Diagnostics *diagnostics) {
        GString *messages = g_string_new(NULL);

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                g_autofree char *message = diagnostics_format(diagnostics, i);

                g_string_append_printf(messages, "%s%s", i > 0 ? "\n" : "", message);
        }

        return g_string_free(messages, false);
}

Definition *loaded_good(const char *text) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autofree char *messages = NULL;
        Definition *definition = NULL;
        int r = definition_load_text(text, strlen(text), example_tables, NULL, diagnostics, &definition);

        messages = loaded_messages(diagnostics);
        g_assert_cmpstr(messages, ==, "");
        g_assert_cmpint(r, ==, 0);
        return definition;
}

void loaded_assert_bad(const char *text, size_t length, const char *expected) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autofree char *messages = NULL;
        Definition *definition = NULL;
        int r = definition_load_text(text, length, example_tables, NULL, diagnostics, &definition);

        messages = loaded_messages(diagnostics);
        g_assert_cmpstr(messages, ==, expected);
        g_assert_cmpint(r, ==, -EINVAL);
        g_assert_null(definition);
        g_assert_cmpuint(diagnostics_count_errors(diagnostics), >, 0);
}
