/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests Condition and Script in runs. */

#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "run-stage.h"
#include "run/run.h"

/* A condition, and what runs while it holds. root: with ' for ". */
#define WHILE(test)                                                                                                    \
        "{ 'type': 'ReactiveSequence', 'name': 'While', 'children': [ { 'type': 'Condition', 'test': \"" test          \
        "\" }, " ACTION("A") " ] }"

static RunStage *stage_new(const char *variables, const char *root) {
        g_autofree char *text = g_strdup_printf("{ 'btd': 1, 'blackboard': { %s }, 'root': %s }", variables, root);

        return run_stage_new_file(text);
}

static void set(const RunStage *stage, const char *values) {
        g_autofree char *text = g_strdelimit(g_strdup(values), "'", '"'), *error = NULL;
        g_autoptr(json_object) object = json_tokener_parse(text);

        g_assert_cmpint(run_set_values(stage->run, object, NULL, &error), ==, 0);
        run_stage_turn(stage);
}

static void test_condition(void) {
        g_autoptr(RunStage) stage = stage_new("'battery': 80, 'mode': 1", WHILE("battery > 20 and mode ~= 0"));

        run_stage_start(stage);
        g_assert_true(fake_is_alive("A"));
        run_stage_assert_node(stage, 1, STATUS_SUCCESS, NULL);
        set(stage, "{ 'battery': 30 }");
        g_assert_true(fake_is_alive("A"));
        set(stage, "{ 'battery': 15 }");
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_finished(stage, STATUS_FAILURE,
                                  "While/Condition: battery > 20 and mode ~= 0 is false (battery is 15, mode is 1)");
}

static void test_condition_is_false(void) {
        g_autoptr(RunStage) stage = stage_new("'a': null", "{ 'type': 'Condition', 'test': 'a' }");

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Condition: a is false (a is not set)");
}

static void test_condition_without_variables(void) {
        g_autoptr(RunStage) stage = stage_new("", "{ 'type': 'Condition', 'test': '1 > 2' }");

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Condition: 1 > 2 is false");
}

/* What runs is halted before the run ends, in either case. */
static void test_condition_cannot_be_evaluated(void) {
        g_autoptr(RunStage) first = stage_new("'battery': null", WHILE("battery > 20")), later = NULL;
        const char *cause = "While/Condition: battery > 20: attempt to compare number with nil (battery is null)";

        run_stage_start(first);
        run_stage_assert_finished(first, STATUS_ERROR, cause);
        g_clear_pointer(&first, run_stage_free);

        later = stage_new("'battery': 80", WHILE("battery > 20"));
        run_stage_start(later);
        g_assert_true(fake_is_alive("A"));
        set(later, "{ 'battery': null }");
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_finished(later, STATUS_ERROR, cause);
}

static void test_script(void) {
        g_autoptr(RunStage) stage =
                stage_new("'tries': 1, 'list': [1, 2]",
                          "{ 'type': 'Sequence', 'children': [ { 'type': 'Script', 'code': 'tries = tries + 1; list[3] "
                          "= tries' }, "
                          "{ 'type': 'Condition', 'test': 'tries == 2 and #list == 3 and list[3] == 2' } ] }");

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* Nothing is set by code that does not come to its end. */
static void test_script_fails(void) {
        g_autoptr(RunStage) stage =
                stage_new("'tries': 1, 'list': 5",
                          "{ 'type': 'Sequence', 'name': 'Boot', 'children': [ { 'type': 'Script', 'name': 'Count', "
                          "'code': 'tries = 2; list[3] = 1' }, " ACTION("A") " ] }");
        json_object *tries;

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_ERROR,
                                  "Boot/Count: tries = 2; list[3] = 1: attempt to index a number value (list is 5)");
        g_assert_cmpuint(fake_starts("A"), ==, 0);
        g_assert_true(blackboard_get(run_blackboard(stage->run), "tries", &tries));
        g_assert_cmpint(json_object_get_int(tries), ==, 1);
}

/* A condition whose parameters refer to a variable begins again when the variable changes. */
static void test_references_follow(void) {
        g_autoptr(RunStage) stage =
                stage_new("'n': 'one', 'other': 1",
                          "{ 'type': 'ReactiveSequence', 'children': [ { 'type': 'FakeCondition', 'name': 'C', "
                          "'text': 'the {n}' }, " ACTION("A") " ] }");

        run_stage_start(stage);
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "waits for the one");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("A"));

        set(stage, "{ 'other': 2 }");
        set(stage, "{ 'n': 'one' }");
        g_assert_cmpuint(fake_starts("C"), ==, 1);

        set(stage, "{ 'n': 'two' }");
        g_assert_cmpuint(fake_starts("C"), ==, 2);
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "waits for the two");

        set(stage, "{ 'n': null }");
        run_stage_assert_finished(
                stage, STATUS_FAILURE,
                "ReactiveSequence/C: text: the variable 'n' is null, so it cannot be a part of a text");
}

/* It follows what the tree itself sets, too, in the same tick. */
static void test_script_changes_reference(void) {
        g_autoptr(RunStage) stage = stage_new(
                "'n': 'one'",
                "{ 'type': 'Parallel', 'children': [ { 'type': 'WhileDoElse', 'children': [ { 'type': 'FakeCondition', "
                "'name': 'C', 'text': '{n}' }, " ACTION("A") ", " ACTION(
                        "B") " ] }, { 'type': 'Sequence', "
                             "'children': [ " ACTION("D") ", { 'type': 'Script', 'code': 'n = [[two]]' }, " ACTION(
                                     "E") " ] } ] }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_end(stage, "D", STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fake_starts("C"), ==, 2);
        g_assert_true(fake_is_alive("E"));
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for two");
}

/* Waiting for a condition that cannot be evaluated would have no end. */
static void test_wait_for_wrong_parameter(void) {
        g_autoptr(RunStage) stage =
                stage_new("'n': 'one'",
                          "{ 'type': 'WaitFor', 'child': { 'type': 'FakeCondition', 'name': 'C', 'text': '{n}' } }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_FAILURE, "not yet");
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("C"));
        set(stage, "{ 'n': null }");
        run_stage_assert_finished(stage, STATUS_FAILURE, "WaitFor/C: text: expected a string, but {n} is null");
}

/* A condition sees what another branch of its own tree sets. */
static void test_script_changes_condition(void) {
        g_autoptr(RunStage) stage = stage_new(
                "'go': false",
                "{ 'type': 'Parallel', 'children': [ { 'type': 'WhileDoElse', 'children': [ { 'type': 'Condition', "
                "'test': 'go' }, " ACTION("Going") ", " ACTION("Waiting") " ] }, { 'type': 'Sequence', 'children': "
                                                                          "[ " ACTION("Button") ", { 'type': 'Script', "
                                                                                                "'code': 'go = true' "
                                                                                                "}, " ACTION(
                                                                                                        "Rest") " ] } "
                                                                                                                "] }");

        run_stage_start(stage);
        g_assert_true(fake_is_alive("Waiting"));
        run_stage_end(stage, "Button", STATUS_SUCCESS, NULL);
        g_assert_true(fake_is_alive("Rest"));
        g_assert_false(fake_is_alive("Waiting"));
        g_assert_true(fake_is_alive("Going"));
}

/* Each sees the variables of its own scope. */
static void test_scopes(void) {
        g_autoptr(RunStage) stage = run_stage_new_file(
                "{ 'btd': 1, 'blackboard': { 'level': 1 }, "
                "'trees': { 'part': { 'inputs': { 'level': 'int' }, 'outputs': { 'twice': 'int' }, 'root': "
                "{ 'type': 'Sequence', 'children': [ { 'type': 'Condition', 'test': 'level == 5 and _G.level == 1' }, "
                "{ 'type': 'Script', 'code': 'twice = 2 * level; _G.level = 2' } ] } } }, "
                "'root': { 'type': 'Sequence', 'children': [ "
                "{ 'type': 'SubTree', 'tree': 'part', 'inputs': { 'level': 5 }, 'outputs': { 'twice': 'result' } }, "
                "{ 'type': 'Condition', 'test': 'level == 2 and result == 10' } ] } }");

        run_stage_start(stage);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/computed/condition", test_condition);
        g_test_add_func("/computed/condition-is-false", test_condition_is_false);
        g_test_add_func("/computed/condition-without-variables", test_condition_without_variables);
        g_test_add_func("/computed/condition-cannot-be-evaluated", test_condition_cannot_be_evaluated);
        g_test_add_func("/computed/script", test_script);
        g_test_add_func("/computed/script-fails", test_script_fails);
        g_test_add_func("/computed/script-changes-condition", test_script_changes_condition);
        g_test_add_func("/computed/references-follow", test_references_follow);
        g_test_add_func("/computed/script-changes-reference", test_script_changes_reference);
        g_test_add_func("/computed/wait-for-wrong-parameter", test_wait_for_wrong_parameter);
        g_test_add_func("/computed/scopes", test_scopes);

        return g_test_run();
}
