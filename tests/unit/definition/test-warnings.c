/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What loading a tree warns of: each trap with its exact message, and beside it what is no trap.
 *
 * The leaves are called after what they do: Act takes time, Check is a condition, Good and Bad know only one outcome.
 */

#include <errno.h>
#include <string.h>

#include "definition/definition.h"
#include "inputs.h"

static const NodeType act_type = { .name = "Act", .class = NODE_ACTION, .summary = "takes time" };
static const NodeType check_type = { .name = "Check", .class = NODE_CONDITION, .summary = "has a value" };
static const NodeType good_type = {
        .name = "Good", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS, .summary = "never fails"
};
static const NodeType bad_type = {
        .name = "Bad", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE | TYPE_NEVER_SUCCEEDS, .summary = "never succeeds"
};

static const NodeType *const leaves[] = { &act_type, &check_type, &good_type, &bad_type, NULL };
static const NodeType *const *const tables[] = { engine_types, leaves, NULL };

#define ACT "{ \"type\": \"Act\" }"
#define CHECK "{ \"type\": \"Check\" }"
#define GOOD "{ \"type\": \"Good\" }"
#define BAD "{ \"type\": \"Bad\" }"
/* A node that may be passed over. */
#define IF_WANTED(type) "{ \"type\": \"" type "\", \"skip_if\": \"unwanted\" }"
#define CONTROL(type, params, children) "{ \"type\": \"" type "\"" params ", \"children\": [" children "] }"
#define DECORATOR(type, params, child) "{ \"type\": \"" type "\"" params ", \"child\": " child " }"
#define ENDLESS DECORATOR("KeepRunningUntilFailure", "", GOOD)

/* "PATH: TEXT", one a line, of the file whose root this is. */
static char *warnings_of(const char *root) {
        g_autofree char *inputs = inputs_of(root);
        g_autofree char *text = g_strdup_printf("{ \"btd\": 1, \"inputs\": %s, \"root\": %s }", inputs, root);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;
        GString *warnings = g_string_new(NULL);
        int r = definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition);

        for (size_t i = 0; i < diagnostics_count(diagnostics); i++) {
                const Diagnostic *diagnostic = diagnostics_get(diagnostics, i);

                g_assert_true(diagnostic->warning);
                g_string_append_printf(warnings, "%s%s: %s", i > 0 ? "\n" : "", diagnostic->where, diagnostic->text);
        }

        g_assert_cmpint(r, ==, 0);
        return g_string_free(warnings, false);
}

/* The text of the only error. */
static void assert_error(const char *root, const char *expected) {
        g_autofree char *inputs = inputs_of(root);
        g_autofree char *text = g_strdup_printf("{ \"btd\": 1, \"inputs\": %s, \"root\": %s }", inputs, root);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;

        g_assert_cmpint(definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition), ==, -EINVAL);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 1);
        g_assert_false(diagnostics_get(diagnostics, 0)->warning);
        g_assert_cmpstr(diagnostics_get(diagnostics, 0)->text, ==, expected);
}

static void assert_warning(const char *root, const char *expected) {
        g_autofree char *warnings = warnings_of(root);

        g_assert_cmpstr(warnings, ==, expected);
}

static void assert_none(const char *root) {
        assert_warning(root, "");
}

static void test_reactive_action(void) {
        assert_warning(
                CONTROL("ReactiveSequence", "", CHECK ", " ACT ", " ACT),
                "ReactiveSequence: the action 'Act' is not the last child, so it would be started again and again; "
                "use a Sequence, or put RunOnce around it");
        assert_warning(
                CONTROL("ReactiveSequence", "", CONTROL("Sequence", "", CHECK ", " ACT) ", " GOOD),
                "ReactiveSequence: the action 'Act' is not the last child, so it would be started again and again; "
                "use a Sequence, or put RunOnce around it");
        assert_warning(
                CONTROL("ReactiveFallback", "", ACT ", " ACT),
                "ReactiveFallback: the action 'Act' is not the last child, so it would be started again and again; "
                "use a Fallback, or put RunOnce around it");
        assert_warning(CONTROL("WhileDoElse", "", DECORATOR("Inverter", "", ACT) ", " ACT),
                       "WhileDoElse: the action 'Act' is part of the condition, so it would be started again and "
                       "again; use an "
                       "IfThenElse");

        assert_none(CONTROL("ReactiveSequence", "", CHECK ", " GOOD ", " ACT));
        assert_none(CONTROL("ReactiveSequence", "", DECORATOR("RunOnce", "", ACT) ", " ACT));
        assert_none(CONTROL("ReactiveFallback", "", CONTROL("Sequence", "", CHECK ", " GOOD) ", " ACT));
        assert_none(CONTROL("WhileDoElse", "", CHECK ", " ACT ", " ACT));
        assert_none(CONTROL("IfThenElse", "", ACT ", " ACT));
}

/* A condition before the action decides whether it is started again. */
static void test_reactive_guarded_action(void) {
        static const char started_again[] =
                "ReactiveSequence: the action 'Act' is not the last child, so it would be started again and again; use "
                "a Sequence, or put RunOnce around it";

        assert_none(CONTROL("ReactiveFallback", "", CONTROL("Sequence", "", CHECK ", " ACT) ", " ACT));
        assert_none(CONTROL("ReactiveFallback", "", CONTROL("ReactiveSequence", "", CHECK ", " ACT) ", " ACT));
        assert_none(CONTROL("ReactiveSequence", "", CONTROL("Fallback", "", CHECK ", " ACT) ", " ACT));
        assert_none(
                CONTROL("ReactiveSequence", "",
                        CONTROL("Sequence", "", CHECK ", " CONTROL("ReactiveFallback", "", CHECK ", " ACT)) ", " ACT));
        assert_warning(
                CONTROL("ReactiveFallback", "", CONTROL("Sequence", "", ACT ", " CHECK) ", " ACT),
                "ReactiveFallback: the action 'Act' is not the last child, so it would be started again and again; "
                "use a Fallback, or put RunOnce around it");
        assert_warning(
                CONTROL("ReactiveFallback", "", CONTROL("Fallback", "", CHECK ", " ACT) ", " ACT),
                "ReactiveFallback: the action 'Act' is not the last child, so it would be started again and again; "
                "use a Fallback, or put RunOnce around it");
        assert_warning(CONTROL("ReactiveSequence", "", CONTROL("Fallback", "", CHECK ", " ACT) ", " ACT ", " ACT),
                       started_again);
        assert_warning(CONTROL("ReactiveSequence", "", CONTROL("Fallback", "", BAD ", " ACT) ", " ACT), started_again);
}

/* Sequence and the like: what comes after a child that never succeeds. */
static void test_sequence(void) {
        static const char *const types[] = { "Sequence", "AsyncSequence", "SequenceWithMemory", "ReactiveSequence",
                                             "PipelineSequence" };

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                g_autofree char *after_bad = g_strdup_printf(CONTROL("%s", "", CHECK ", " BAD ", " ACT), types[i]);
                g_autofree char *after_endless = g_strdup_printf(CONTROL("%s", "", ENDLESS ", " ACT), types[i]);
                g_autofree char *at_the_end = g_strdup_printf(CONTROL("%s", "", CHECK ", " ENDLESS), types[i]);
                g_autofree char *skipped = g_strdup_printf(CONTROL("%s", "", IF_WANTED("Bad") ", " ACT), types[i]);
                g_autofree char *bad =
                        g_strdup_printf("%s: 'Bad' can never succeed, so the nodes after it can never run", types[i]);
                g_autofree char *endless = g_strdup_printf(
                        "%s: 'KeepRunningUntilFailure' can never succeed, so the nodes after it can never run",
                        types[i]);

                assert_warning(after_bad, bad);
                assert_warning(after_endless, endless);
                assert_none(at_the_end);
                assert_none(skipped);
        }
}

static void test_fallback(void) {
        static const char *const types[] = { "Fallback", "AsyncFallback", "ReactiveFallback" };

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                g_autofree char *after_good = g_strdup_printf(CONTROL("%s", "", GOOD ", " ACT), types[i]);
                g_autofree char *at_the_end = g_strdup_printf(CONTROL("%s", "", CHECK ", " GOOD), types[i]);
                g_autofree char *skipped = g_strdup_printf(CONTROL("%s", "", IF_WANTED("Good") ", " ACT), types[i]);
                g_autofree char *good =
                        g_strdup_printf("%s: 'Good' can never fail, so the nodes after it can never run", types[i]);

                assert_warning(after_good, good);
                assert_none(at_the_end);
                assert_none(skipped);
        }

        assert_warning(CONTROL("Fallback", "", DECORATOR("ForceSuccess", "", ACT) ", " ACT),
                       "Fallback: 'ForceSuccess' can never fail, so the nodes after it can never run");
        assert_none(CONTROL("RoundRobin", "", GOOD ", " ACT));
}

static void test_parallel(void) {
        assert_warning(CONTROL("Parallel", "", GOOD ", " ENDLESS),
                       "Parallel: it can never be decided: too few of its children can ever succeed or fail");
        assert_warning(CONTROL("Parallel", ", \"success_count\": 2, \"failure_count\": 2", BAD ", " GOOD ", " ENDLESS),
                       "Parallel: it can never be decided: too few of its children can ever succeed or fail");
        assert_warning(CONTROL("ParallelAll", "", ACT ", " ENDLESS),
                       "ParallelAll: it can never complete: 'KeepRunningUntilFailure' never ends");
        assert_error(CONTROL("Parallel", ", \"success_count\": 3", ACT ", " ACT),
                     "success_count: 3 is higher than the number of children, 2");
        assert_error(CONTROL("Parallel", ", \"success_count\": 1, \"failure_count\": 3", ACT ", " ACT),
                     "failure_count: 3 is higher than the number of children, 2");
        assert_error(CONTROL("ParallelAll", ", \"max_failures\": 3", ACT ", " ACT),
                     "max_failures: 3 is higher than the number of children, 2");
        assert_warning(CONTROL("Parallel", ", \"success_count\": 0", ACT ", " ACT),
                       "Parallel: success_count amounts to 0, so it succeeds as soon as its first child has started");
        assert_warning(CONTROL("Parallel", ", \"failure_count\": -3", ACT ", " ACT),
                       "Parallel: failure_count amounts to 0, so it fails as soon as its first child has started");
        assert_warning(CONTROL("ParallelAll", ", \"max_failures\": 0", ACT ", " ACT),
                       "ParallelAll: max_failures amounts to 0, so it always fails");

        assert_none(CONTROL("Parallel", "", ACT ", " ENDLESS));
        assert_none(CONTROL("Parallel", ", \"success_count\": 1", GOOD ", " ENDLESS));
        assert_none(CONTROL("Parallel", ", \"failure_count\": 2", BAD ", " GOOD));
}

static void test_timeout(void) {
        assert_warning(
                DECORATOR("Timeout", ", \"name\": \"Outer\", \"timeout\": \"1s\"",
                          DECORATOR("Inverter", "", DECORATOR("Timeout", ", \"timeout\": \"2s\"", ACT))),
                "Outer/Inverter/Timeout: the Timeout 'Outer' above it expires no later, so this one has no effect");

        assert_none(DECORATOR("Timeout", ", \"timeout\": \"2s\"", DECORATOR("Timeout", ", \"timeout\": \"1s\"", ACT)));
        assert_none(DECORATOR("Timeout", ", \"timeout\": \"0s\"", DECORATOR("Timeout", ", \"timeout\": \"1s\"", ACT)));
        assert_none(DECORATOR("Timeout", ", \"timeout\": \"infinity\"",
                              DECORATOR("Timeout", ", \"timeout\": \"infinity\"", ACT)));
}

static void test_rounds(void) {
        assert_warning(DECORATOR("Repeat", ", \"num_cycles\": 0", ACT),
                       "Repeat: num_cycles is 0, so its child can never run");
        assert_warning(DECORATOR("RetryUntilSuccessful", ", \"num_attempts\": 0", ACT),
                       "RetryUntilSuccessful: num_attempts is 0, so its child can never run");
        assert_warning(CONTROL("Sequence", "", DECORATOR("Repeat", ", \"num_cycles\": -1", ACT) ", " ACT),
                       "Sequence: 'Repeat' can never succeed, so the nodes after it can never run");
        assert_warning(
                CONTROL("Fallback", "", DECORATOR("RetryUntilSuccessful", ", \"num_attempts\": -1", ACT) ", " ACT),
                "Fallback: 'RetryUntilSuccessful' can never fail, so the nodes after it can never run");

        assert_none(CONTROL("Sequence", "", DECORATOR("Repeat", ", \"num_cycles\": 2", ACT) ", " ACT));
        assert_none(CONTROL("Sequence", "", DECORATOR("RetryUntilSuccessful", ", \"num_attempts\": -1", ACT) ", " ACT));
}

static void test_branches(void) {
        assert_warning(CONTROL("IfThenElse", "", GOOD ", " ACT ", " CHECK),
                       "IfThenElse: 'Good' can never fail, so 'Check' can never run");
        assert_warning(CONTROL("IfThenElse", "", BAD ", " ACT), "IfThenElse: 'Bad' can never succeed, so 'Act' can "
                                                                "never run");
        assert_warning(CONTROL("WhileDoElse", "", GOOD ", " ACT ", " CHECK),
                       "WhileDoElse: 'Good' can never fail, so 'Check' can never run");
        assert_warning(CONTROL("Switch", ", \"variable\": \"v\", \"cases\": [\"a\", \"b\", \"a\"]",
                               ACT ", " ACT ", " CHECK ", " ACT),
                       "Switch: the case 'a' is given twice, so 'Check' can never run");

        assert_none(CONTROL("IfThenElse", "", GOOD ", " ACT));
        assert_none(CONTROL("WhileDoElse", "", CHECK ", " ACT ", " ACT));
        assert_none(CONTROL("Switch", ", \"variable\": \"v\", \"cases\": [\"a\", \"b\"]", ACT ", " ACT ", " ACT));
}

static void test_ways_out(void) {
        assert_warning(CONTROL("TryCatch", "", GOOD ", " ACT),
                       "TryCatch: the nodes before 'Act' can never fail, so it can never run");
        assert_warning(CONTROL("TryCatch", "", BAD ", " CHECK ", " ACT),
                       "TryCatch: 'Bad' can never succeed, so the nodes after it can never run");
        assert_warning(CONTROL("RecoveryNode", "", GOOD ", " ACT),
                       "RecoveryNode: 'Good' can never fail, so 'Act' can never run");
        assert_warning(CONTROL("RecoveryNode", ", \"number_of_retries\": 0", ACT ", " CHECK),
                       "RecoveryNode: number_of_retries is 0, so 'Check' can never run");

        assert_none(CONTROL("TryCatch", ", \"catch_on_halt\": true", GOOD ", " ACT));
        assert_none(CONTROL("TryCatch", "", BAD ", " ACT));
        assert_none(CONTROL("RecoveryNode", "", BAD ", " ACT));
}

/* What would keep everything around it from ever ending. */
static void test_never_ends(void) {
        assert_warning(CONTROL("Finally", "", ACT ", " ENDLESS),
                       "Finally: 'KeepRunningUntilFailure' never ends, and the nodes above wait for it; set a "
                       "timeout");
        assert_warning(DECORATOR("KeepRunningUntilFailure", ", \"uninterruptible\": true", GOOD),
                       "KeepRunningUntilFailure: it never ends and is uninterruptible, so nothing can halt it");

        assert_none(CONTROL("Finally", ", \"timeout\": \"1s\"", ACT ", " ENDLESS));
        assert_none(CONTROL("Finally", "", ENDLESS ", " ACT));
        assert_none(DECORATOR("KeepRunningUntilFailure", ", \"uninterruptible\": true", ACT));
}

/* The errors beside these are in tests/messages/trees.txt. */
static void test_no_errors(void) {
        assert_none(DECORATOR("WaitFor", "", CONTROL("Sequence", "", CHECK ", " DECORATOR("Inverter", "", CHECK))));
        assert_none(CONTROL("Switch", ", \"of\": \"1 + 1\", \"cases\": [\"a\"]", ACT ", " ACT));
}

/* The message with the number, as "PATH: TEXT", of a file with errors. */
static char *message_of(const char *root, size_t number) {
        g_autofree char *text = g_strdup_printf("{ \"btd\": 1, \"root\": %s }", root);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("t");
        g_autoptr(Definition) definition = NULL;
        const Diagnostic *diagnostic;

        g_assert_cmpint(definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition), ==, -EINVAL);
        g_assert_cmpuint(diagnostics_count(diagnostics), ==, 2);
        diagnostic = diagnostics_get(diagnostics, number);
        return g_strdup_printf("%s: %s", diagnostic->where, diagnostic->text);
}

/* Warnings that do not follow from a wrong node are given beside its errors. */
static void test_beside_errors(void) {
        g_autofree char *before = message_of(
                CONTROL("Sequence", "", BAD ", " CONTROL("Parallel", ", \"success_count\": 5", ACT ", " ACT)), 0);
        g_autofree char *below = message_of(
                CONTROL("IfThenElse", "", CONTROL("Sequence", "", BAD ", " ACT) ", " ACT ", " ACT ", " ACT), 1);
        g_autofree char *about = message_of(
                CONTROL("RecoveryNode", ", \"number_of_retries\": 0", ACT ", { \"type\": \"Inverter\" }"), 0);

        g_assert_cmpstr(before, ==, "Sequence: 'Bad' can never succeed, so the nodes after it can never run");
        g_assert_cmpstr(below, ==, "IfThenElse/Sequence: 'Bad' can never succeed, so the nodes after it can never run");
        g_assert_cmpstr(about, ==, "RecoveryNode: number_of_retries is 0, so 'Inverter' can never run");
}

/* Nobody knows what a wrong node will do when it is correct, so no warning follows from its outcome. */
static void test_wrong_nodes(void) {
        assert_error(CONTROL("Sequence", "", CONTROL("Parallel", ", \"success_count\": 5", ACT ", " ACT) ", " ACT),
                     "success_count: 5 is higher than the number of children, 2");
        assert_error(CONTROL("Fallback", "", CONTROL("ParallelAll", ", \"max_failures\": 3", ACT ", " ACT) ", " ACT),
                     "max_failures: 3 is higher than the number of children, 2");
        assert_error(
                CONTROL("Sequence", "", "{ \"type\": \"Bad\", \"skip_if\": 5 }, " ACT),
                "skip_if: expected an expression, a string or an array of lines, not 5; write it in double quotes");
        assert_error(
                CONTROL("Sequence", "", CONTROL("Fallback", "", "{ \"type\": \"Bad\", \"colour\": 5 }, " BAD) ", " ACT),
                "unknown key 'colour'; 'btctl types Bad' lists what a Bad takes");
        assert_error(DECORATOR("WaitFor", "", "{ \"type\": \"Check\", \"while\": 5 }"),
                     "while: expected an expression, a string or an array of lines, not 5; write it in double quotes");
}

/* What is known of a node is handed up: each of these stands first in a Sequence, before an Act. */
static void test_never_succeeds(void) {
        static const struct {
                const char *node;
                bool never;
        } cases[] = {
                { DECORATOR("Inverter", "", GOOD), true },
                { DECORATOR("Inverter", "", BAD), false },
                { DECORATOR("ForceFailure", "", ACT), true },
                { DECORATOR("ForceFailure", "", IF_WANTED("Act")), false },
                { DECORATOR("ForceSuccess", "", BAD), false },
                { DECORATOR("ForceSuccess", "", ENDLESS), true },
                { DECORATOR("Delay", ", \"delay\": \"1s\"", BAD), true },
                { DECORATOR("Timeout", ", \"timeout\": \"1s\"", BAD), true },
                { DECORATOR("RateController", ", \"hz\": 1", BAD), true },
                { DECORATOR("RunOnce", ", \"then_skip\": false", BAD), true },
                { DECORATOR("RunOnce", "", BAD), false },
                { DECORATOR("Precondition", ", \"if\": \"v\"", BAD), true },
                { DECORATOR("Precondition", ", \"if\": \"v\", \"else\": \"running\"", BAD), true },
                { DECORATOR("Precondition", ", \"if\": \"v\", \"else\": \"success\"", BAD), false },
                { DECORATOR("Precondition", ", \"if\": \"v\", \"else\": \"skipped\"", BAD), false },
                { DECORATOR("Loop", ", \"queue\": \"q\", \"variable\": \"v\", \"if_empty\": \"failure\"", ACT), true },
                { DECORATOR("Loop", ", \"queue\": \"q\", \"variable\": \"v\", \"if_empty\": \"skipped\"", ACT), false },
                { DECORATOR("Loop", ", \"queue\": \"q\", \"variable\": \"v\"", BAD), false },
                { DECORATOR("Repeat", ", \"num_cycles\": 2", BAD), true },
                { DECORATOR("RetryUntilSuccessful", ", \"num_attempts\": 2", BAD), true },
                { CONTROL("Sequence", "", CHECK ", " BAD), true },
                { CONTROL("Sequence", "", CHECK ", " IF_WANTED("Bad")), false },
                { CONTROL("Fallback", "", BAD ", " BAD), true },
                { CONTROL("Fallback", "", BAD ", " CHECK), false },
                { CONTROL("ReactiveFallback", "", BAD ", " BAD), true },
                { CONTROL("RoundRobin", "", BAD ", " BAD), true },
                { CONTROL("Parallel", "", CHECK ", " BAD), true },
                { CONTROL("Parallel", ", \"success_count\": 1", CHECK ", " BAD), false },
                { CONTROL("ParallelAll", "", CHECK ", " BAD), true },
                { CONTROL("ParallelAll", ", \"max_failures\": 2", CHECK ", " BAD), false },
                { CONTROL("IfThenElse", "", CHECK ", " BAD), true },
                { CONTROL("IfThenElse", "", CHECK ", " BAD ", " ACT), false },
                { CONTROL("WhileDoElse", "", CHECK ", " BAD ", " BAD), true },
                { CONTROL("Switch", ", \"variable\": \"v\", \"cases\": [\"a\"]", BAD ", " BAD), true },
                { CONTROL("Switch", ", \"variable\": \"v\", \"cases\": [\"a\"]", BAD ", " ACT), false },
                { CONTROL("TryCatch", "", BAD ", " ACT), true },
                { CONTROL("TryCatch", "", ACT ", " BAD), false },
                { CONTROL("RecoveryNode", "", BAD ", " ACT), true },
                { CONTROL("Finally", "", BAD ", " ACT), true },
                { CONTROL("Finally", "", ACT ", " BAD), true },
                { CONTROL("Finally", "", ACT ", " ACT), false },
                { DECORATOR("OnChange", ", \"of\": \"1\"", BAD), true },
                { DECORATOR("OnChange", ", \"of\": \"1\", \"otherwise\": \"skip\"", BAD), false },
                { DECORATOR("ForEach", ", \"items\": [1], \"as\": \"e\"", BAD), false },
                { DECORATOR("WaitFor", "", CHECK), false },
                { CONTROL("PipelineSequence", "", CHECK ", " BAD), true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *root = g_strdup_printf(CONTROL("Sequence", "", "%s, " ACT), cases[i].node);
                g_autofree char *warnings = warnings_of(root);

                g_test_message("%s", cases[i].node);
                if (cases[i].never)
                        g_assert_true(
                                g_str_has_suffix(warnings, "' can never succeed, so the nodes after it can never run"));
                else
                        g_assert_cmpstr(warnings, ==, "");
        }
}

static void test_ready(void) {
        g_autofree char *never = warnings_of(DECORATOR("KeepRunningUntilFailure", ", \"ready\": true", GOOD)),
                        *before = warnings_of(
                                CONTROL("Sequence", "", "{ \"type\": \"Act\", \"ready\": true }, " ENDLESS)),
                        *guarded = warnings_of(DECORATOR("KeepRunningUntilFailure",
                                                         ", \"ready\": true, \"success_if\": \"done\"", GOOD));

        g_assert_cmpstr(never, ==,
                        "KeepRunningUntilFailure: ready: 'KeepRunningUntilFailure' can never succeed, so it never "
                        "makes the run ready; give it to the node that comes before");
        g_assert_cmpstr(before, ==, "");
        g_assert_cmpstr(guarded, ==, "");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/warnings/reactive-action", test_reactive_action);
        g_test_add_func("/warnings/reactive-guarded-action", test_reactive_guarded_action);
        g_test_add_func("/warnings/sequence", test_sequence);
        g_test_add_func("/warnings/fallback", test_fallback);
        g_test_add_func("/warnings/parallel", test_parallel);
        g_test_add_func("/warnings/timeout", test_timeout);
        g_test_add_func("/warnings/rounds", test_rounds);
        g_test_add_func("/warnings/branches", test_branches);
        g_test_add_func("/warnings/ways-out", test_ways_out);
        g_test_add_func("/warnings/never-ends", test_never_ends);
        g_test_add_func("/warnings/no-errors", test_no_errors);
        g_test_add_func("/warnings/beside-errors", test_beside_errors);
        g_test_add_func("/warnings/wrong-nodes", test_wrong_nodes);
        g_test_add_func("/warnings/never-succeeds", test_never_succeeds);
        g_test_add_func("/warnings/ready", test_ready);

        return g_test_run();
}
