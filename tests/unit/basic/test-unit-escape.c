/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the escapes in the names of units, against what systemd-escape(1) prints. */

#include <glib.h>

#include "basic/unit-escape.h"

static void test_text(void) {
        static const char *const cases[][2] = {
                { "", "" },           { "eth0.100:a_b", "eth0.100:a_b" }, { "usb-front", "usb\\x2dfront" },
                { "a b", "a\\x20b" }, { "\xc3\xbc", "\\xc3\\xbc" },       { "/a//b/", "-a--b-" },
                { ".a.", "\\x2ea." }, { "a@b\\\n", "a\\x40b\\x5c\\x0a" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *escaped = unit_escape(cases[i][0]), *again = unit_unescape(escaped, true);

                g_assert_cmpstr(escaped, ==, cases[i][1]);
                g_assert_cmpstr(again, ==, cases[i][0]);
        }
}

static void test_path(void) {
        static const char *const cases[][2] = {
                { "/", "-" },
                { "", "-" },
                { "/dev//ttyUSB0/", "dev-ttyUSB0" },
                { "./a/./b-c", "a-b\\x2dc" },
                { "/.a", "\\x2ea" },
                { "/srv/../a", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *escaped = unit_escape_path(cases[i][0]);

                g_assert_cmpstr(escaped, ==, cases[i][1]);
        }
}

static void test_unescape(void) {
        static const char *const cases[][2] = {
                { "a-b", "a-b" }, { "a\\x2Db", "a-b" }, { "a\\x2", NULL }, { "a\\", NULL },
                { "\\n", NULL },  { "\\x00", NULL },    { "\\xff", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = unit_unescape(cases[i][0], false);

                g_assert_cmpstr(text, ==, cases[i][1]);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/unit-escape/text", test_text);
        g_test_add_func("/unit-escape/path", test_path);
        g_test_add_func("/unit-escape/unescape", test_unescape);
        return g_test_run();
}
