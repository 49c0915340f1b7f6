/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the texts that say what a running leaf waits for, and why nodes of a real run failed: the chain of causes. */

#include <string.h>

#include "assert-cause.h"
#include "run-stage.h"

/* Until it has been told to stop. */
static void await_halt(const RunStage *stage, const char *name) {
        while (fake_halts(name) == 0)
                g_main_context_iteration(stage->context, TRUE);
}

static void test_being_stopped(void) {
        static const char *const texts[][2] = {
                { "", "being stopped" },
                { "for you", "waits for for you; being stopped" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *root = g_strdup_printf(
                        "{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'timeout': '1ms', 'text': '%s' }",
                        texts[i][0]);
                g_autoptr(RunStage) stage = run_stage_new(root);

                run_stage_start(stage);
                await_halt(stage, "A");
                run_stage_assert_node(stage, 0, STATUS_RUNNING, texts[i][1]);
                fake_end("A", STATUS_FAILURE, NULL);
                run_stage_await_finish(stage);
        }
}

/* How long is left is not to be foreseen. */
static void test_timeout(void) {
        static const char *const texts[][2] = {
                { "", "times out in " },
                { "you", "waits for you; times out in " },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *root = g_strdup_printf(
                        "{ 'type': 'FakeAction', 'name': 'A', 'timeout': '1h', 'text': '%s' }", texts[i][0]);
                g_autoptr(RunStage) stage = run_stage_new(root);
                g_autofree char *detail = NULL;
                NodeReport report;

                run_stage_start(stage);
                run_node_report(stage->run, 0, &report);
                detail = report.detail;
                g_assert_true(g_str_has_prefix(detail, texts[i][1]));
        }
}

static void test_replacement(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'ReactiveFallback', 'children': [{ 'type': 'Sequence', "
                              "'children': [" CONDITION("C") ", " ACTION("B") "] }, " STUBBORN("A") "] }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_FAILURE, NULL);
        run_stage_turn(stage);
        run_stage_assert_node(stage, 4, STATUS_RUNNING, "waits for the test to go on");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_state(stage, 4, "halting", "halting");
        run_stage_assert_state(stage, 3, "waiting", "waits for A to stop");
        run_pause(stage->run, NULL);
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_state(stage, 3, "waiting", "waits for the run to be resumed");
        run_resume(stage->run, NULL);
        run_stage_turn(stage);
        run_stage_assert_node(stage, 3, STATUS_RUNNING, "waits for the test to go on");
}

static void test_forced_child(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" STUBBORN("A") ", " ACTION("B") "] }");

        run_stage_start(stage);
        g_assert_true(run_force(stage->run, 1, STATUS_SUCCESS, cause_new(CAUSE_FORCED, NULL, "forced by hand")));
        run_stage_turn(stage);
        run_stage_assert_state(stage, 1, "halting", "halting");
        run_stage_assert_state(stage, 0, "running", "waits for A to stop");
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the test to go on");
}

/* Runs the tree to its end. */
static RunStage *finished(const char *root) {
        RunStage *stage = run_stage_new(root);

        run_stage_start(stage);
        run_stage_await_finish(stage);
        return stage;
}

/* Of the chain from the run down: the run is 0. */
static const Cause *level(const RunStage *stage, unsigned n) {
        const Cause *cause = run_cause_chain(stage->run);

        for (unsigned i = 0; i < n; i++)
                cause = cause->because;
        return cause;
}

static void assert_level(const RunStage *stage, unsigned n, const char *kind, const char *facts, const char *text) {
        assert_cause(level(stage, n), kind, facts);
        g_assert_cmpstr(level(stage, n)->text, ==, text);
}

#define EACH(items, keys)                                                                                              \
        "{ 'type': 'ForEach', 'name': 'Each', 'items': " items ", 'as': 'e'" keys                                      \
        ", 'child': { 'type': 'Script', 'name': 'Ping', 'code': 'seen = e', 'fail_if': 'e == 1 or e == [[one]]' } }"

static void test_for_each(void) {
        g_autoptr(RunStage) stage = finished(EACH("['zero', 'one', 'two']", ""));
        const char *why = "its fail_if is true: e == 1 or e == [[one]] (e is \"one\")";
        g_autofree char *text = g_strconcat("Each: failed for \"one\": ", why, NULL);

        run_stage_assert_finished(stage, STATUS_FAILURE, text);
        assert_level(stage, 1, "element", "{\"index\":1,\"element\":\"one\"}", "failed for \"one\"");
        g_assert_cmpstr(level(stage, 2)->text, ==, why);
}

static void test_for_each_with_failures(void) {
        g_autoptr(RunStage) stage = finished(EACH("['one', 1, 'two']", ", 'max_failures': 1, 'concurrency': 2")),
                            most = finished(EACH("['zero', 1, 'two']", ", 'max_failures': 1, 'concurrency': 2")),
                            all = finished(EACH("['zero', 'two']", ""));

        run_stage_assert_finished(stage, STATUS_FAILURE,
                                  "Each: failed for 2 of 3 elements, last for 1: its fail_if is true: e == 1 or e == "
                                  "[[one]] (e is 1)");
        assert_level(stage, 1, "threshold", "{\"index\":1,\"element\":1,\"elements\":3,\"failed\":2}",
                     "failed for 2 of 3 elements, last for 1");
        run_stage_assert_node(most, 0, STATUS_SUCCESS, "1 of 3 elements failed");
        run_stage_assert_node(all, 0, STATUS_SUCCESS, "2 done");
}

/* As JSON, of which only the beginning is told. */
static void test_for_each_of_long_elements(void) {
        g_autofree char *element = g_strnfill(4000, 'x'),
                        *root = g_strdup_printf(
                                "{ 'type': 'ForEach', 'items': [['%s']], 'as': 'e', 'child': " FAILS("A") " }",
                                element),
                        *shown = g_strdup_printf("[\"%.58s...", element),
                        *text = g_strdup_printf("failed for %s", shown);
        g_autoptr(RunStage) stage = finished(root);
        json_object *fact = NULL;

        g_assert_cmpstr(level(stage, 1)->text, ==, text);
        g_assert_true(json_object_object_get_ex(level(stage, 1)->facts, "element", &fact));
        g_assert_cmpstr(json_object_get_string(fact), ==, shown);
}

static void test_for_each_is_caught(void) {
        static const struct {
                const char *element;
                Status status;
        } cases[] = { { "one", STATUS_SUCCESS }, { "two", STATUS_IDLE } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *root = g_strdup_printf(
                        "{ 'type': 'TryCatch', 'catch': ['element:%s'], 'children': [" EACH(
                                "['one']", "") ", { 'type': 'Script', 'name': 'Catch', 'code': 'seen = 2' }] }",
                        cases[i].element);
                g_autoptr(RunStage) stage = finished(root);

                run_stage_assert_node(stage, 3, cases[i].status, NULL);
        }
}

static void test_parallel(void) {
        g_autoptr(RunStage) stage = finished(
                "{ 'type': 'Parallel', 'name': 'Both', 'children': [{ 'type': 'FakeNow', 'name': 'A' }, " FAILS(
                        "B") "] }");

        assert_level(stage, 1, "threshold", "{\"children\":2,\"failed\":1,\"succeeded\":1}",
                     "1 of its 2 children failed");
        g_assert_null(level(stage, 2)->because);
}

static void test_attempts(void) {
        g_autoptr(RunStage) stage =
                finished("{ 'type': 'RetryUntilSuccessful', 'name': 'Again', 'num_attempts': 2, 'child': { 'type': "
                         "'Timeout', 'name': 'Limit', 'timeout': '1ms', 'child': " ACTION("A") " } }");

        assert_level(stage, 1, "attempts", "{\"attempts\":2}", "failed 2 times");
        assert_level(stage, 2, "timeout",
                     "{\"limit\":\"1ms\",\"limit_usec\":1000,\"where\":\"timeout of Again/Limit\"}",
                     "timed out after 1ms");
}

/* They say which variables they saw. */
static void test_guards(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                "{ 'btd': 1, 'blackboard': { 'level': 15, 'mode': null }, 'root': { 'type': 'Sequence', 'name': 'All', "
                "'children': [{ 'type': 'FakeNow', 'name': 'Skipped', 'skip_if': 'level < 20' }, "
                "{ 'type': 'FakeNow', 'name': 'Done', 'fails': true, 'success_if': 'level == 15' }, "
                "{ 'type': 'FakeNow', 'name': 'Wrong', 'fail_if': 'level < 20 and not mode' }] } }");

        run_stage_start(stage);
        run_stage_assert_finished(
                stage, STATUS_FAILURE,
                "All/Wrong: its fail_if is true: level < 20 and not mode (level is 15, mode is not set)");
        assert_cause(level(stage, 2), "guard",
                     "{\"guard\":\"fail_if\",\"expression\":\"level < 20 and not mode\","
                     "\"seen\":{\"level\":15,\"mode\":null}}");
        run_stage_assert_node(stage, 1, STATUS_SKIPPED, "its skip_if is true: level < 20 (level is 15)");
        run_stage_assert_node(stage, 2, STATUS_SUCCESS, "its success_if is true: level == 15 (level is 15)");
}

/* The nodes above only pass it on. */
static void test_error_of_an_expression(void) {
        g_autoptr(RunStage) stage =
                run_stage_new_file("{ 'btd': 1, 'blackboard': { 'level': 'low' }, 'root': { 'type': 'Sequence', "
                                   "'name': 'All', 'children': "
                                   "[{ 'type': 'FakeNow', 'name': 'Here', 'skip_if': 'level < 20' }] } }");
        g_autofree char *text = NULL, *above = NULL;

        run_stage_start(stage);
        text = g_strconcat("All/Here: ", level(stage, 2)->text, NULL);
        run_stage_assert_finished(stage, STATUS_ERROR, text);
        assert_cause(level(stage, 2), "expression", "{\"expression\":\"level < 20\"}");
        above = cause_describe_one(definition_tree(stage->definition), level(stage, 1), STATUS_ERROR);
        g_assert_cmpstr(above, ==, "Here ended with an ERROR");
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-details/being-stopped", test_being_stopped);
        g_test_add_func("/run-details/timeout", test_timeout);
        g_test_add_func("/run-details/replacement", test_replacement);
        g_test_add_func("/run-details/forced-child", test_forced_child);
        g_test_add_func("/run-details/for-each", test_for_each);
        g_test_add_func("/run-details/for-each-with-failures", test_for_each_with_failures);
        g_test_add_func("/run-details/for-each-of-long-elements", test_for_each_of_long_elements);
        g_test_add_func("/run-details/for-each-is-caught", test_for_each_is_caught);
        g_test_add_func("/run-details/parallel", test_parallel);
        g_test_add_func("/run-details/attempts", test_attempts);
        g_test_add_func("/run-details/guards", test_guards);
        g_test_add_func("/run-details/error-of-an-expression", test_error_of_an_expression);
        return g_test_run();
}
