/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the suggestions ("did you mean") and the quotes in messages. */

#include <glib.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"

static const char *nearest_of(const char *word, const char *const *candidates) {
        Nearest nearest = { .word = word };

        for (; *candidates; candidates++)
                nearest_offer(&nearest, *candidates);

        return nearest.best;
}

static void test_found(void) {
        static const char *const candidates[] = { "Sequence", "Fallback", "Parallel", "Inverter", "Retry",
                                                  "boot",     "name",     "x",        NULL };

        g_assert_cmpstr(nearest_of("Seqence", candidates), ==, "Sequence");
        g_assert_cmpstr(nearest_of("Sequnece", candidates), ==, "Sequence");
        g_assert_cmpstr(nearest_of("sequence", candidates), ==, "Sequence");
        g_assert_cmpstr(nearest_of("Fallbakc", candidates), ==, "Fallback");
        g_assert_cmpstr(nearest_of("Paralell", candidates), ==, "Parallel");
        g_assert_cmpstr(nearest_of("boto", candidates), ==, "boot");
        g_assert_cmpstr(nearest_of("nmae", candidates), ==, "name");
        g_assert_cmpstr(nearest_of("Retyr", candidates), ==, "Retry");
}

static void test_parts(void) {
        static const char *const candidates[] = { "initial", "max", "halt_timeout", "no", NULL };

        g_assert_cmpstr(nearest_of("maximum", candidates), ==, "max");
        g_assert_cmpstr(nearest_of("timeout", candidates), ==, "halt_timeout");
        g_assert_null(nearest_of("nothing", candidates));
}

static bool is_close(const char *word, const char *candidate) {
        Nearest nearest = { .word = word };

        nearest_offer(&nearest, candidate);
        g_assert_cmpstr(nearest.best, ==, candidate);
        return nearest_is_close(&nearest);
}

static void test_close(void) {
        g_assert_true(is_close("durations", "duration"));
        g_assert_true(is_close("autostrat", "autostart"));
        g_assert_true(is_close("attempts", "num_attempts"));
        g_assert_false(is_close("maximum", "max"));
}

static void test_not_found(void) {
        static const char *const candidates[] = { "Sequence", "boot", "x", "", NULL };
        g_autofree char *long_word = g_strnfill(1000, 'S');

        g_assert_null(nearest_of("Turnip", candidates));
        g_assert_null(nearest_of("", candidates));
        g_assert_null(nearest_of("y", candidates));
        g_assert_null(nearest_of("bxxt", candidates));
        g_assert_null(nearest_of(long_word, candidates));
}

static void test_best_wins(void) {
        static const char *const candidates[] = { "interface", "interfaces", "inter", NULL };
        static const char *const first[] = { "cat", "hat", NULL };

        g_assert_cmpstr(nearest_of("interfacs", candidates), ==, "interface");
        g_assert_cmpstr(nearest_of("interfacess", candidates), ==, "interfaces");
        g_assert_cmpstr(nearest_of("bat", first), ==, "cat");
}

static void test_excerpt(void) {
        static const struct {
                const char *text, *shown;
        } cases[] = {
                { "plain", "plain" },
                { "two\nlines\tand \x1b[31mred", "two\\nlines\\tand \\u001b[31mred" },
                { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
                { "cut\xc3", "cut\xef\xbf\xbd" },
                { "\xff\xfe!", "\xef\xbf\xbd\xef\xbf\xbd!" },
        };
        g_autofree char *many = g_strnfill(100, 'a');
        g_autofree char *shown = excerpt(many, strlen(many));

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *quoted = excerpt(cases[i].text, strlen(cases[i].text));

                g_assert_cmpstr(quoted, ==, cases[i].shown);
        }

        g_assert_cmpuint(strlen(shown), ==, 63);
        g_assert_true(g_str_has_suffix(shown, "a..."));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/nearest/found", test_found);
        g_test_add_func("/nearest/parts", test_parts);
        g_test_add_func("/nearest/close", test_close);
        g_test_add_func("/nearest/not-found", test_not_found);
        g_test_add_func("/nearest/best-wins", test_best_wins);
        g_test_add_func("/nearest/excerpt", test_excerpt);
        return g_test_run();
}
