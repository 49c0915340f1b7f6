/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests how runs react to changes of their variables. */

#include <errno.h>
#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "run-stage.h"
#include "run/run.h"
#include "stopped-clock.h"

static void set(const RunStage *stage, const char *values) {
        g_autoptr(json_object) object = json_tokener_parse(values);
        g_autofree char *error = NULL;

        g_assert_cmpint(run_set_values(stage->run, object, NULL, &error), ==, 0);
        g_assert_null(error);
        run_stage_turn(stage);
}

static void assert_variable(const RunStage *stage, const char *key, const char *json) {
        json_object *value = NULL;

        g_assert_true(blackboard_get(run_blackboard(stage->run), key, &value));
        g_assert_cmpstr(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN), ==, json);
}

#define TREE(blackboard, root) "{ 'btd': 1, 'blackboard': { " blackboard " }, 'root': " root " }"

/* All but a few bytes of what there may be. */
static json_object *nearly_all(void) {
        g_autofree char *text = g_strnfill(blackboard_bytes_max(&limits_default) - 100, 'x');

        return json_object_new_string(text);
}

/* Until what it replaces has ended, an action has not been started: its guard is evaluated again. */
static void test_guard_while_another_ends(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'g': false",
                     "{ 'type': 'ReactiveFallback', 'children': [{ 'type': 'Sequence', 'children': "
                     "[" CONDITION("Mid") ", { 'type': 'FakeAction', 'name': 'A', 'skip_if': 'g' }] }, " STUBBORN(
                             "B") "] }"));

        run_stage_start(stage);
        fake_set_value("Mid", STATUS_FAILURE, NULL);
        run_stage_turn(stage);
        fake_set_value("Mid", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_halts("B"), ==, 1);
        set(stage, "{ \"g\": true }");
        g_assert_cmpuint(stage->finished, ==, 0);
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
}

static void test_output_without_room(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'a': null, 'b': null",
                     "{ 'type': 'Fallback', 'name': 'F', 'children': [" ACTION("A") ", " ACTION("B") "] }"));

        run_stage_start(stage);
        fake_set_output("A", "a", nearly_all());
        fake_set_output("A", "a", nearly_all());
        fake_set_output("A", "b", nearly_all());
        fake_set_output("A", "c", json_object_new_int(1));
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_node(stage, 1, STATUS_FAILURE, "b: the variables of the run would exceed 8 MiB");
        assert_variable(stage, "b", "null");
        assert_variable(stage, "c", "1");

        /* Less is always possible. */
        fake_set_output("B", "a", json_object_new_int(0));
        fake_set_output("B", "b", nearly_all());
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

static void test_set_without_room(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(TREE("'a': null, 'b': null", ACTION("A")));
        g_autoptr(json_object) values = json_object_new_object();
        g_autofree char *error = NULL;

        run_stage_start(stage);
        json_object_object_add(values, "a", nearly_all());
        json_object_object_add(values, "b", nearly_all());
        g_assert_cmpint(run_set_values(stage->run, values, NULL, &error), ==, -EDQUOT);
        g_assert_cmpstr(error, ==, "the variables of the run would exceed 8 MiB");
        assert_variable(stage, "a", "null");
        run_stage_halt(stage, "enough");
}

static void test_script_without_room(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'a': 'x', 'b': 1",
                     "{ 'type': 'Script', 'name': 'S', 'code': 'a = string.rep(a, 2900000)  b = a  c = a' }"));

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_ERROR,
                                  "S: a = string.rep(a, 2900000)  b = a  c = a: the variables of the run would exceed "
                                  "8 MiB");
        assert_variable(stage, "b", "1");
}

static void test_while(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'level': 50", "{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'while': 'level > 20' }"));

        run_stage_start(stage);
        set(stage, "{ \"level\": 30 }");
        g_assert_cmpuint(fake_halts("A"), ==, 0);
        set(stage, "{ \"level\": 15 }");
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SKIPPED, "A: its while is false: level > 20 (level is 15)");
}

/* The cause is what the guard saw, not what came after: in the time that the halt takes, and by hooks. */
static void test_seen_then(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'level': 50", "{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'while': 'level > 20' }"));
        g_autoptr(RunStage) hooked =
                run_stage_new_file(TREE("'tries': 4", "{ 'type': 'FakeAction', 'name': 'B', 'fail_if': 'tries > 3', "
                                                      "'on_failure': 'tries = 0' }"));

        run_stage_start(stage);
        set(stage, "{ \"level\": 15 }");
        set(stage, "{ \"level\": 90 }");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SKIPPED, "A: its while is false: level > 20 (level is 15)");

        run_stage_start(hooked);
        run_stage_assert_finished(hooked, STATUS_FAILURE, "B: its fail_if is true: tries > 3 (tries is 4)");
        assert_variable(hooked, "tries", "0");
}

/* What did not come, not only that it took too long. */
static void test_waited_for(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'level': 5", "{ 'type': 'WaitFor', 'name': 'W', 'timeout': '1ms', 'child': { 'type': "
                                   "'Condition', 'name': 'C', 'test': 'level > 20' } }"));

        run_stage_start(stage);
        run_stage_await_finish(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE,
                                  "W: timed out after 1ms; last: level > 20 is false (level is 5)");
}

static void test_waiting_for(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'level': 5", "{ 'type': 'WaitFor', 'name': 'W', 'child': { 'type': 'Condition', 'name': 'C', "
                                   "'test': 'level > 20' } }"));

        run_stage_start(stage);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "not yet: level > 20 is false (level is 5)");
        set(stage, "{ \"level\": 6 }");
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "not yet: level > 20 is false (level is 6)");
        set(stage, "{ \"level\": 21 }");
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* A condition over variables reacts to one who sets them from outside. */
static void test_condition(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(TREE(
                "'level': 50, 'other': 1", "{ 'type': 'ReactiveSequence', 'name': 'R', 'children': [ { 'type': "
                                           "'Condition', 'name': 'C', 'test': 'level > 20' }, " ACTION("A") "] }"));

        run_stage_start(stage);
        g_assert_true(fake_is_alive("A"));
        set(stage, "{ \"other\": 2, \"level\": 21 }");
        g_assert_cmpuint(fake_halts("A"), ==, 0);
        set(stage, "{ \"level\": 20 }");
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        run_stage_assert_finished(stage, STATUS_FAILURE, "R/C: level > 20 is false (level is 20)");
}

/* The same when a leaf of the run sets them, at its end and in the middle. */
static void test_output_of_a_leaf(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'level': 50",
                     "{ 'type': 'Parallel', 'failure_count': 1, 'children': [ { 'type': 'WaitFor', 'child': { "
                     "'type': 'Condition', 'test': 'level == 7' } }, " ACTION("A") ", { 'type': 'FakeAction', "
                                                                                   "'name': 'B', 'while': "
                                                                                   "'level ~= 8' } ] }"));

        run_stage_start(stage);
        fake_set_output("A", "level", json_object_new_int(7));
        run_stage_turn(stage);
        run_stage_assert_node(stage, 1, STATUS_SUCCESS, NULL);
        g_assert_true(fake_is_alive("B"));
        fake_set_output("A", "level", json_object_new_int(8));
        run_stage_turn(stage);
        g_assert_false(fake_is_alive("B"));
}

static void test_script_sets_off_a_condition(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'ready': false", "{ 'type': 'Parallel', 'children': [ { 'type': 'WaitFor', 'child': { 'type': "
                                       "'Condition', 'test': 'ready' } }, { 'type': 'Sequence', 'children': [" ACTION(
                                               "A") ", { 'type': 'Script', 'code': 'ready = true' } ] } ] }"));

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* A tree that always gives itself something new to look at leaves the others their time: after 1000 ticks, it ticks ten
 * times a second. */
static void test_loop_of_its_own(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(TREE(
                "'n': 0", "{ 'type': 'ReactiveSequence', 'children': [ { 'type': 'Condition', 'test': 'n >= 0' }, { "
                          "'type': 'Script', 'code': 'n = n + 1' }, " ACTION("A") " ] }"));
        json_object *value = NULL;

        clock_stop();
        run_stage_start(stage);
        for (int i = 1; i < 5; i++) {
                g_assert_true(blackboard_get(run_blackboard(stage->run), "n", &value));
                g_assert_cmpint(json_object_get_int64(value), ==, 1000 + i);
                clock_move(100 * 1000 - 1);
                run_stage_turn(stage);
                g_assert_true(blackboard_get(run_blackboard(stage->run), "n", &value));
                g_assert_cmpint(json_object_get_int64(value), ==, 1000 + i);
                clock_move(1);
                run_stage_turn(stage);
        }
        clock_continue();
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

static void test_hooks(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(TREE(
                "'log': ''", "{ 'type': 'Fallback', 'always': 'log = log .. [[F]]', 'children': [ { 'type': "
                             "'FakeAction', 'name': 'A', 'on_failure': 'log = log .. [[a]]', 'always': 'log = log "
                             ".. [[A]]' }, { 'type': 'FakeAction', 'name': 'B', 'stubborn': true, 'on_halted': 'log "
                             "= log .. [[h]]', 'on_success': 'log = log .. [[s]]' } ] }"));

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        assert_variable(stage, "log", "\"aA\"");
        run_stage_halt(stage, "enough");
        assert_variable(stage, "log", "\"aA\"");
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        assert_variable(stage, "log", "\"aAhF\"");
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
}

static void test_error_of_a_guard(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(TREE(
                "'level': null", "{ 'type': 'Parallel', 'name': 'Boot', 'children': [" ACTION(
                                         "A") ", { 'type': 'FakeAction', 'name': 'B', 'fail_if': 'level > 20' } ] }"));

        run_stage_start(stage);
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_finished(stage, STATUS_ERROR,
                                  "Boot/B: level > 20: attempt to compare number with nil (level is null)");
}

static void test_error_of_a_leaf(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'x': 1", "{ 'type': 'Sequence', 'name': 'Boot', 'children': [ { 'type': 'Script', 'name': 'S', "
                               "'code': 'error([[no such camera]])' } ] }"));

        run_stage_start(stage);
        g_assert_cmpstr(status_to_string(run_status(stage->run)), ==, "error");
        g_assert_true(g_str_has_prefix(run_cause(stage->run), "Boot/S: "));
        g_assert_nonnull(strstr(run_cause(stage->run), "no such camera"));
}

/* One that is looked at again and cannot be evaluated any more. */
static void test_error_of_a_live_condition(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'level': 50", "{ 'type': 'ReactiveSequence', 'name': 'R', 'children': [ { 'type': 'Condition', "
                                    "'name': 'C', 'test': 'level > 20' }, " STUBBORN("A") "] }"));

        run_stage_start(stage);
        set(stage, "{ \"level\": \"low\" }");
        g_assert_true(run_halting(stage->run));
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_ERROR,
                                  "R/C: level > 20: attempt to compare number with string (level is \"low\")");
}

static void test_error_of_a_hook(void) {
        g_autoptr(RunStage) stage =
                run_stage_new_file(TREE("'x': 1", "{ 'type': 'FakeNow', 'name': 'A', 'on_success': 'x = x .. nil' }"));

        run_stage_start(stage);
        g_assert_cmpstr(status_to_string(run_status(stage->run)), ==, "error");
        g_assert_true(g_str_has_prefix(run_cause(stage->run), "A: "));
}

#define SUBTREE(inputs)                                                                                                \
        "{ 'btd': 1, 'blackboard': { 'n': 5, 'got': null }, 'trees': { 't': { 'inputs': { 'tries': 'int' }, "          \
        "'outputs': "                                                                                                  \
        "{ 'result': 'string' }, 'root': { 'type': 'Sequence', 'name': 'Inner', 'children': [ { 'type': "              \
        "'FakeAction', "                                                                                               \
        "'name': 'A', 'text': 'tries {tries}' }, { 'type': 'Script', 'code': 'result = [[n=]] .. tries; _G.total = "   \
        "tries' "                                                                                                      \
        "} "                                                                                                           \
        "] } } }, 'root': { 'type': 'Sequence', 'name': 'Boot', 'children': [ { 'type': 'SubTree', 'name': 'Sub', "    \
        "'tree': 't', 'inputs': { 'tries': " inputs " }, 'outputs': { 'result': 'got' } }, { 'type': 'FakeNow', "      \
        "'fails': true, 'name': 'B', 'text': '{got} {total}' } ] } }"

static void test_subtree(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(SUBTREE("'{n}'"));

        run_stage_start(stage);
        set(stage, "{ \"n\": 6 }");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Boot/B: n=5 5");
}

static void test_subtree_with_a_wrong_input(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(SUBTREE("'{n}'"));
        g_autoptr(json_object) given = json_tokener_parse("{ \"n\": [] }");

        run_give(stage->run, given);
        run_stage_start(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Boot/Sub: expected a whole number for 'tries', but got []");
}

static void test_for_each_without_a_list(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'list': 5",
                     "{ 'type': 'ForEach', 'name': 'Each', 'items': '{list}', 'as': 'x', 'on_success': 'list = nil', "
                     "'child': " ACTION("A") "}"));

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Each: items: expected an array, but {list} is 5");
}

static void test_for_each(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(TREE(
                "'list': ['a', 'b', 'c'], 'seen': ''",
                "{ 'type': 'ForEach', 'items': '{list}', 'as': 'x', 'concurrency': 2, 'child': { 'type': 'Sequence', "
                "'children': [" ACTION("A") ", { 'type': 'Script', 'code': 'seen = seen .. x' } ] } }"));

        run_stage_start(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
        while (stage->finished == 0) {
                run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
                /* There are two of the name: the one that was started last is known. */
                if (!fake_is_alive("A"))
                        break;
        }
        g_assert_cmpuint(fake_starts("A"), ==, 3);
        assert_variable(stage, "seen", "\"bc\"");
}

static void test_retry_on(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'RetryUntilSuccessful', 'num_attempts': 5, 'retry_on': ['timeout'], 'child': { "
                "'type': 'FakeAction', 'name': 'A', 'timeout': '1ms' } }");

        run_stage_start(stage);
        while (fake_starts("A") < 2)
                g_main_context_iteration(stage->context, TRUE);
        run_stage_end(stage, "A", STATUS_FAILURE, "something else");
        g_assert_cmpuint(stage->finished, ==, 1);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
}

/* The number of attempts is that of the variable when the node began. */
static void test_late_parameter(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'tries': 3",
                     "{ 'type': 'Repeat', 'num_cycles': 2, 'child': { 'type': 'ForceSuccess', 'child': { "
                     "'type': 'RetryUntilSuccessful', 'num_attempts': '{tries}', 'child': " ACTION("A") " } } }"));

        run_stage_start(stage);
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "{tries} is 3");
        run_stage_end(stage, "A", STATUS_FAILURE, "no");
        set(stage, "{\"tries\": 1}");
        run_stage_end(stage, "A", STATUS_FAILURE, "no");
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "attempt 3 of 3; before: no; {tries} is 3");
        run_stage_end(stage, "A", STATUS_FAILURE, "no");
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "{tries} is 1");
        run_stage_end(stage, "A", STATUS_FAILURE, "no");
        g_assert_cmpuint(stage->finished, ==, 1);
        g_assert_cmpuint(fake_starts("A"), ==, 4);
}

/* The limit of a clean-up, too. */
static void test_late_limit(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                TREE("'limit': '10ms'",
                     "{ 'type': 'Finally', 'timeout': '{limit}', 'children': [ " ACTION("A") ", " ACTION("B") " ] }"));

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_await_finish(stage);
        g_assert_cmpint(run_status(stage->run), ==, STATUS_FAILURE);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-variables/guard-while-another-ends", test_guard_while_another_ends);
        g_test_add_func("/run-variables/output-without-room", test_output_without_room);
        g_test_add_func("/run-variables/set-without-room", test_set_without_room);
        g_test_add_func("/run-variables/script-without-room", test_script_without_room);
        g_test_add_func("/run-variables/late-parameter", test_late_parameter);
        g_test_add_func("/run-variables/late-limit", test_late_limit);
        g_test_add_func("/run-variables/while", test_while);
        g_test_add_func("/run-variables/seen-then", test_seen_then);
        g_test_add_func("/run-variables/waited-for", test_waited_for);
        g_test_add_func("/run-variables/waiting-for", test_waiting_for);
        g_test_add_func("/run-variables/condition", test_condition);
        g_test_add_func("/run-variables/output-of-a-leaf", test_output_of_a_leaf);
        g_test_add_func("/run-variables/script-sets-off-a-condition", test_script_sets_off_a_condition);
        g_test_add_func("/run-variables/loop-of-its-own", test_loop_of_its_own);
        g_test_add_func("/run-variables/hooks", test_hooks);
        g_test_add_func("/run-variables/error-of-a-guard", test_error_of_a_guard);
        g_test_add_func("/run-variables/error-of-a-leaf", test_error_of_a_leaf);
        g_test_add_func("/run-variables/error-of-a-live-condition", test_error_of_a_live_condition);
        g_test_add_func("/run-variables/error-of-a-hook", test_error_of_a_hook);
        g_test_add_func("/run-variables/subtree", test_subtree);
        g_test_add_func("/run-variables/subtree-with-a-wrong-input", test_subtree_with_a_wrong_input);
        g_test_add_func("/run-variables/for-each-without-a-list", test_for_each_without_a_list);
        g_test_add_func("/run-variables/for-each", test_for_each);
        g_test_add_func("/run-variables/retry-on", test_retry_on);
        return g_test_run();
}
