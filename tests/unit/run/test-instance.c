/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the names of instances: which texts they are made of, and which names are valid. */

#include <glib.h>

#include "run/instance.h"

static void test_names(void) {
        static const struct {
                const char *text, *name;
        } cases[] = {
                { "", "" },
                { "left", "left" },
                { "a_B.1:c-2", "a_B.1:c-2" },
                { "/dev/sda 1", "\\x2fdev\\x2fsda\\x201" },
                { "\xc3\xbc", "\\xc3\\xbc" },
                { "a\\x20b", "a\\x5cx20b" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *name = instance_name(cases[i].text, false), *text = instance_text(name), *error = NULL;

                g_assert_cmpstr(name, ==, cases[i].name);
                g_assert_cmpstr(text, ==, cases[i].text);
                g_assert_cmpint(instance_check(name, &error), ==, 0);
        }
}

static void test_escaped(void) {
        static const char *const texts[] = { "a\\x20b c", "\\y20", "\\xg0", "\\x2g", "\\x2" };
        static const char *const names[] = { "a\\x20b\\x20c", "\\x5cy20", "\\x5cxg0", "\\x5cx2g", "\\x5cx2" };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *name = instance_name(texts[i], true);

                g_assert_cmpstr(name, ==, names[i]);
        }
}

static void test_invalid(void) {
        g_autofree char *longest = g_strnfill(100, 'x'), *longer = g_strnfill(101, 'x'), *none = NULL;
        const char *names[] = { longer, "a b", "a\\", "a\\x2", "a\\y20", "\\x00" };

        g_assert_cmpint(instance_check(longest, &none), ==, 0);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *error = NULL;

                g_assert_cmpint(instance_check(names[i], &error), <, 0);
                g_assert_nonnull(error);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/instance/names", test_names);
        g_test_add_func("/instance/escaped", test_escaped);
        g_test_add_func("/instance/invalid", test_invalid);
        return g_test_run();
}
