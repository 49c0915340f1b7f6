/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests causes: their facts, and the patterns that select them. */

#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"

static Cause *busy(void) {
        return cause_new(CAUSE_DBUS_ERROR,
                         facts_new("name", fact_text("org.example.Error.Busy"), "message", NULL, NULL),
                         "org.example.Error.Busy");
}

static void test_facts(void) {
        g_autoptr(json_object) facts = facts_new("unit", fact_text("cam\xff.service"), "cursor", fact_text(NULL),
                                                 "status", json_object_new_int(3), NULL);

        g_assert_cmpstr(json_object_to_json_string_ext(facts, JSON_C_TO_STRING_PLAIN), ==,
                        "{\"unit\":\"cam\xef\xbf\xbd.service\",\"status\":3}");
}

/* Whole characters are kept. */
static void test_long_texts(void) {
        g_autofree char *text = g_strnfill(CAUSE_TEXT_MAX + 1, 'x'), *expected = NULL;
        g_autoptr(json_object) fact = NULL;
        g_autoptr(Cause) cause = NULL;

        memcpy(text + CAUSE_TEXT_MAX - 1, "\u00e9", 2);
        expected = g_strdup_printf("%.*s...", (int) CAUSE_TEXT_MAX - 1, text);
        cause = cause_new(CAUSE_FAILED, NULL, text);
        fact = fact_text(text);
        g_assert_cmpstr(cause->text, ==, expected);
        g_assert_cmpstr(json_object_get_string(fact), ==, expected);
}

static void test_matches(void) {
        static const struct {
                const char *pattern;
                bool matches;
        } cases[] = {
                { "dbus-error", true },
                { "dbus-error:org.example.Error.Busy", true },
                { "dbus-error:*Busy", true },
                { "org.example.Error.Busy", true },
                { "org.example.*", true },
                { "org.example.Error", false },
                { "org.example.Error.Busy.*", false },
                { "timeout", false },
                { "exit-status", false },
                { "exit-status:75", false },
        };
        g_autoptr(Cause) cause = busy();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_true(cause_matches(cause, cases[i].pattern) == cases[i].matches);

        g_assert_false(cause_matches(NULL, "timeout"));
}

/* A service whose process exited with 75 is found by either. */
static void test_matches_by_fact(void) {
        g_autoptr(Cause) cause = cause_new(
                CAUSE_UNIT_RESULT, facts_new("result", fact_text("exit-code"), "status", json_object_new_int(75), NULL),
                "cam.service failed: exited with status 75");

        g_assert_true(cause_matches(cause, "unit-result"));
        g_assert_true(cause_matches(cause, "unit-result:exit-code"));
        g_assert_true(cause_matches(cause, "exit-status"));
        g_assert_true(cause_matches(cause, "exit-status:75"));
        g_assert_false(cause_matches(cause, "exit-status:7"));
        g_assert_false(cause_matches(cause, "unit-result:oom-kill"));
        g_assert_false(cause_matches(cause, "signal"));
}

static void test_chain(void) {
        static const char *const patterns[] = { "timeout", "org.example.Error.*", NULL }, *const none[] = { NULL };
        g_autoptr(Cause) cause = cause_new(CAUSE_ATTEMPTS, NULL, "failed 3 times");

        cause->because = busy();
        cause->because->node = 7;
        g_assert_cmpuint(cause_origin(cause)->node, ==, 7);
        g_assert_true(cause_matches(cause, "attempts"));
        g_assert_true(cause_matches_any(cause, patterns));
        g_assert_true(cause_matches_any(cause, NULL));
        g_assert_false(cause_matches_any(cause, none));
        g_assert_false(cause_matches_any(NULL, patterns));
}

static void test_long_chain(void) {
        Cause *cause = NULL;

        for (unsigned i = 0; i < 1000000; i++) {
                Cause *above = cause_new(CAUSE_CHILD, NULL, "its child failed");

                above->because = cause;
                cause = above;
        }

        cause_unref(cause);
}

static void test_patterns(void) {
        static const struct {
                const char *pattern, *problem, *instead;
        } cases[] = {
                { "timeout", NULL },
                { "exit-status:75", NULL },
                { "signal:SIG*", NULL },
                { "org.freedesktop.DBus.Error.*", NULL },
                { "*.Busy", NULL },
                { "exit-statu", "'exit-statu' is not a kind of cause; did you mean 'exit-status'?", "exit-status" },
                { "exit-statu:75", "'exit-statu' is not a kind of cause; did you mean 'exit-status'?",
                  "exit-status:75" },
                { "child", "'child' is neither a kind of cause nor the name of a D-Bus error" },
                { "", "'' is neither a kind of cause nor the name of a D-Bus error" },
                { "org.example error", "'org.example error' is neither a kind of cause nor the name of a D-Bus error" },
                { "timeout:5s", "the kind 'timeout' takes no value after ':'" },
                { "exit-status:", "the status to compare with is missing after ':'" },
                { "exit-status:7*", NULL },
                { "exit-status:x", "'x' is not an exit status, 0 to 255" },
                { "exit-status:256", "'256' is not an exit status, 0 to 255" },
                { "signal:TERM", "'TERM' is not a signal, such as SIGTERM" },
                { "guard:until", "'until' is not a guard: fail_if, success_if, skip_if or while" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *instead = NULL, *problem = cause_pattern_problem(cases[i].pattern, &instead);

                g_assert_cmpstr(problem, ==, cases[i].problem);
                g_assert_cmpstr(instead, ==, cases[i].instead);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cause/facts", test_facts);
        g_test_add_func("/cause/long-texts", test_long_texts);
        g_test_add_func("/cause/matches", test_matches);
        g_test_add_func("/cause/matches-by-fact", test_matches_by_fact);
        g_test_add_func("/cause/chain", test_chain);
        g_test_add_func("/cause/long-chain", test_long_chain);
        g_test_add_func("/cause/patterns", test_patterns);
        return g_test_run();
}
