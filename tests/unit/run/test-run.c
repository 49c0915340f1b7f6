/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests a run from start to end, with leaves that the test controls. */

#include <json-c/json_tokener.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "run-stage.h"

static void test_success(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'name': 'Boot', 'children': [" ACTION("A") ", " ACTION("B") "] }");

        run_stage_assert_node(stage, 1, STATUS_IDLE, NULL);
        run_stage_start(stage);
        g_assert_cmpint(run_status(stage->run), ==, STATUS_RUNNING);
        g_assert_cmpuint(run_finished(stage->run), ==, 0);
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "waits for the test to go on");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_node(stage, 1, STATUS_SUCCESS, NULL);
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
        g_assert_false(fake_is_alive("B"));
}

static void test_failure_has_a_cause(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'name': 'Boot', 'children': [ { 'type': 'Fallback', "
                              "'children': [" ACTION("A") ", " ACTION("B") "] }, " ACTION("C") "] }");

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_FAILURE, "exited with status 3");
        run_stage_assert_node(stage, 2, STATUS_FAILURE, "exited with status 3");
        run_stage_end(stage, "B", STATUS_FAILURE, "org.example.Error.Busy: the camera is in use");
        run_stage_assert_finished(stage, STATUS_FAILURE,
                                  "Boot/Fallback: all 2 children failed: A: exited with status 3; "
                                  "B: org.example.Error.Busy: the camera is in use");
        run_stage_assert_node(stage, 0, STATUS_FAILURE,
                              "Fallback: all 2 children failed: A: exited with status 3; "
                              "B: org.example.Error.Busy: the camera is in use");
        run_stage_assert_node(stage, 4, STATUS_IDLE, NULL);
}

/* What is done about a failure is not why there was one, but a clean-up that fails needs somebody who looks. */
static void test_cause_before_a_clean_up(void) {
        static const char *const types[] = { "TryCatch", "Finally" };
        static const char *const causes[] = {
                "Update/A: no space left",
                "Update: all 2 children failed: A: no space left; B: cannot be undone",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                g_autofree char *root = g_strdup_printf(
                        "{ 'type': '%s', 'name': 'Update', 'children': [" ACTION("A") ", " ACTION("B") "] }", types[i]);
                g_autoptr(RunStage) stage = run_stage_new(root);

                run_stage_start(stage);
                run_stage_end(stage, "A", STATUS_FAILURE, "no space left");
                run_stage_end(stage, "B", STATUS_FAILURE, "cannot be undone");
                run_stage_assert_finished(stage, STATUS_FAILURE, causes[i]);
                run_stage_assert_node(stage, 2, STATUS_FAILURE, "cannot be undone");
        }
}

static void test_cause_of_a_clean_up(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'Finally', 'name': 'Update', 'children': [" ACTION("A") ", " ACTION("B") "] }");

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_end(stage, "B", STATUS_FAILURE, "cannot be undone");
        run_stage_assert_finished(stage, STATUS_FAILURE, "Update/B: cannot be undone");
}

/* The one that decided it is named, not one that has failed before, or since. */
static void test_cause_of_a_parallel(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Parallel', 'name': 'P', 'failure_count': 2, 'success_count': 1, 'children': ["
                              "{ 'type': 'Sequence', 'children': [" ACTION("A") ", " ACTION("B") "] }, " STUBBORN(
                                      "C") ", "
                                           "{ 'type': 'Inverter', 'child': " ACTION("D") "} ] }");

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_FAILURE, "first");
        run_stage_end(stage, "D", STATUS_SUCCESS, NULL);
        /* It is decided, but C has not ended. */
        g_assert_cmpuint(stage->finished, ==, 0);
        g_assert_cmpuint(fake_halts("C"), ==, 1);
        run_stage_assert_state(stage, 4, "halting", "halting");
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "ends when C has stopped");
        run_stage_end(stage, "C", STATUS_FAILURE, "too late");
        run_stage_assert_finished(stage, STATUS_FAILURE,
                                  "P: 2 of its 3 children failed: Sequence/A: first; Inverter: D succeeded");
        run_stage_assert_node(stage, 4, STATUS_HALTED, NULL);
}

/* What has been false all the while, and is so for another reason now, is no input; but nobody is told the old one. */
static void test_false_for_another_reason(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'WaitFor', 'name': 'W', 'timeout': '3s', 'child': { "
                              "'type': 'Sequence', 'name': 'S', 'children': [ " CONDITION("C") " ] } }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_FAILURE, "is 5");
        run_stage_turn(stage);
        run_stage_assert_node(stage, 2, STATUS_FAILURE, "is 5");
        fake_set_value("C", STATUS_FAILURE, "is 6");
        run_stage_assert_node(stage, 2, STATUS_FAILURE, "is 6");
        while (stage->finished == 0)
                g_main_context_iteration(stage->context, TRUE);
        run_stage_assert_finished(stage, STATUS_FAILURE, "W: timed out after 3s; last: C: is 6");
}

static void test_attempts(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'RetryUntilSuccessful', 'name': 'Try', 'num_attempts': 3, 'child': " ACTION("A") "}");

        run_stage_start(stage);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, NULL);
        g_assert_cmpuint(fake_attempt("A"), ==, 1);
        run_stage_end(stage, "A", STATUS_FAILURE, "busy");
        g_assert_cmpuint(fake_attempt("A"), ==, 2);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "attempt 2 of 3; before: busy");
        run_stage_end(stage, "A", STATUS_FAILURE, "busy");
        run_stage_end(stage, "A", STATUS_FAILURE, "still busy");
        run_stage_assert_finished(stage, STATUS_FAILURE, "Try: failed 3 times; last: still busy");
}

static void test_rounds(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'Repeat', 'num_cycles': -1, 'child': " ACTION("A") "}");

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "round 2");
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Repeat/A: failed");
}

static void test_elements(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'ForEach', 'items': [1, 2, 3], 'as': 'e', 'max_failures': 1, 'child': " ACTION("A") "}");

        run_stage_start(stage);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "0 of 3 done");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "1 of 3 done");
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "2 of 3 done, 1 failed");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

static void test_timeout_decorator(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Timeout', 'name': 'Limit', 'timeout': '20ms', 'child': " STUBBORN("A") "}");

        run_stage_start(stage);
        while (fake_halts("A") == 0)
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpuint(stage->finished, ==, 0);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Limit: timed out after 20ms");
}

/* Whose child has ended before it may start again. */
static void test_rate_controller(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Repeat', 'num_cycles': 2, 'child': { 'type': 'RateController', 'period': "
                              "'3s', 'child': " ACTION("A") "} }");

        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_false(fake_is_alive("A"));
        while (fake_starts("A") < 2)
                g_main_context_iteration(stage->context, TRUE);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* A leaf whose time is over is waited for, and has failed for that reason whatever it says in the end. */
static void test_timeout_of_a_leaf(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'FakeAction', 'name': 'A', 'timeout': '10ms', 'stubborn': true }");

        run_stage_start(stage);
        while (fake_halts("A") == 0)
                g_main_context_iteration(stage->context, TRUE);
        run_stage_assert_node(stage, 0, STATUS_RUNNING, "waits for the test to go on; being stopped");
        run_stage_end(stage, "A", STATUS_SUCCESS, "killed");
        run_stage_assert_finished(stage, STATUS_FAILURE, "A: timed out after 10ms");
}

static void test_timeout_and_halt(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'FakeAction', 'name': 'A', 'timeout': '10ms', 'stubborn': true }");

        run_stage_start(stage);
        while (fake_halts("A") == 0)
                g_main_context_iteration(stage->context, TRUE);
        run_stage_halt(stage, "halted by the test");
        g_assert_true(run_halting(stage->run));
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_finished(stage, STATUS_HALTED, "halted by the test");
}

static void test_halt_is_awaited(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Parallel', 'children': [" ACTION("A") ", " STUBBORN("B") "] }");

        run_stage_start(stage);
        run_halt(stage->run, cause_new(CAUSE_HALTED, NULL, "halted by UID 0 (btctl)"));
        run_stage_halt(stage, "a second reason");
        g_assert_false(fake_is_alive("A"));
        g_assert_true(run_halting(stage->run));
        g_assert_cmpint(run_status(stage->run), ==, STATUS_RUNNING);
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_HALTED, "halted by UID 0 (btctl)");
        run_halt(stage->run, cause_new(CAUSE_HALTED, NULL, "too late"));
        run_stage_assert_finished(stage, STATUS_HALTED, "halted by UID 0 (btctl)");
}

static void test_halt_before_the_first_tick(void) {
        g_autoptr(RunStage) stage = run_stage_new(ACTION("A"));

        run_start(stage->run, NULL);
        run_stage_halt(stage, "changed my mind");
        run_stage_assert_finished(stage, STATUS_HALTED, "changed my mind");
        g_assert_cmpuint(fake_starts("A"), ==, 0);
}

static void test_error_halts(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'Parallel', 'name': 'P', 'children': [" ACTION(
                "A") ", { 'type': 'IfThenElse', "
                     "'name': 'If', 'children': [ { 'type': 'Sequence', 'children': [" ACTION("B") "] }, " ACTION(
                             "C") "] } ] }");

        run_stage_start(stage);
        run_stage_end(stage, "B", STATUS_SKIPPED, NULL);
        run_stage_assert_finished(stage, STATUS_ERROR,
                                  "P/If: its condition was skipped, which is neither true nor false");
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_node(stage, 1, STATUS_HALTED, NULL);
        run_stage_assert_node(stage, 2, STATUS_ERROR, "its condition was skipped, which is neither true nor false");
        run_stage_assert_node(stage, 0, STATUS_ERROR, "If: its condition was skipped, which is neither true nor false");
}

/* Only the first error of a run is recorded as one. */
static void test_error_of_a_clean_up_after_an_error(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Finally', 'children': [ " ACTION("A") ", " ACTION("B") " ] }");

        run_stage_start(stage);
        fake_break("A", "the first");
        run_stage_turn(stage);
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the test to go on");
        fake_break("B", "the second");
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_ERROR, "Finally/A: the first");
        run_stage_assert_node(stage, 1, STATUS_ERROR, "the first");
        run_stage_assert_node(stage, 2, STATUS_FAILURE, "the second");
}

static void test_bad_reference_is_a_failure(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'FakeAction', 'name': 'A', 'text': 'hello {whom}' }");

        run_stage_start(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
        g_assert_cmpint(run_status(stage->run), ==, STATUS_FAILURE);
        g_assert_nonnull(strstr(run_cause(stage->run), "whom"));
        g_assert_true(g_str_has_prefix(run_cause(stage->run), "A: "));
}

static void test_variables(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'Sequence', 'children': [" ACTION(
                "A") ", { 'type': 'FakeNow', "
                     "'name': 'B', 'fails': true, 'text': '{who} {result}' }] }");

        g_autoptr(json_object) given = json_tokener_parse("{ \"who\": \"you\" }");

        run_give(stage->run, given);
        g_assert_true(json_object_equal(run_given(stage->run), given));
        run_stage_start(stage);
        fake_set_output("A", "result", json_object_new_int64(7));
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Sequence/B: you 7");
}

static void test_condition(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" CONDITION("C") ", " ACTION("A") "] }");

        run_stage_start(stage);
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "waits for the test to go on");
        /* What counts is what it is when it is looked at. */
        fake_set_value("C", STATUS_FAILURE, "is inactive");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("A"));
        g_assert_false(fake_is_alive("C"));
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* One tick drops a condition and evaluates it again: the new evaluation is kept. */
static void test_condition_in_rounds(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'Repeat', 'num_cycles': 2, 'child': " CONDITION("C") "}");

        run_stage_start(stage);
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("C"), ==, 2);
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "waits for the test to go on");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
        g_assert_false(fake_is_alive("C"));
}

static void test_condition_fails(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" CONDITION("C") ", " ACTION("A") "] }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_FAILURE, "is \"inactive\", not \"active\"");
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Sequence/C: is \"inactive\", not \"active\"");
}

/* Below a reactive node, a condition is watched until that is through with it. */
static void test_condition_changes(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'ReactiveSequence', 'children': [" CONDITION("C") ", " STUBBORN("A") "] }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("A") && fake_is_alive("C"));
        fake_set_value("C", STATUS_FAILURE, "is gone");
        run_stage_turn(stage);
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        g_assert_cmpuint(stage->finished, ==, 0);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "ReactiveSequence/C: is gone");
        g_assert_cmpuint(fake_starts("C"), ==, 1);
        g_assert_false(fake_is_alive("C"));
}

/* It is shorter than the time until the next tick. */
static void test_condition_that_dips(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'WhileDoElse', 'children': [" CONDITION("C") ", " ACTION("A") ", " ACTION("B") "] }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        fake_set_value("C", STATUS_FAILURE, "is inactive");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("B"), ==, 1);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
        g_assert_true(fake_is_alive("A"));

        run_pause(stage->run, "test");
        fake_set_value("C", STATUS_FAILURE, "is inactive");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_resume(stage->run, "test");
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("B"), ==, 1);
        g_assert_true(fake_is_alive("A"));
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

static void assert_changes(const RunStage *stage, const NodeId *nodes, unsigned n) {
        g_autoptr(GArray) changes = run_take_changes(stage->run);

        g_assert_cmpuint(changes ? changes->len : 0, ==, n);
        for (unsigned i = 0; i < n; i++)
                g_assert_cmpuint(g_array_index(changes, NodeId, i), ==, nodes[i]);
}

static void test_changes(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" ACTION("A") ", " FAILS("B") ", " ACTION("C") "] }");

        assert_changes(stage, NULL, 0);
        run_set_watched(stage->run, true);
        run_stage_start(stage);
        assert_changes(stage, (const NodeId[]){ 0, 1 }, 2);
        assert_changes(stage, NULL, 0);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        assert_changes(stage, (const NodeId[]){ 1, 2, 0 }, 3);
        run_set_watched(stage->run, false);
        assert_changes(stage, NULL, 0);
}

static void say_how_long(const char *more) {
        g_autofree char *root = g_strdup_printf("{ 'type': 'Delay', 'delay': '1min'%s, 'child': " ACTION("A") "}",
                                                more),
                        *detail = NULL;
        g_autoptr(RunStage) stage = run_stage_new(root);
        NodeReport report;
        uint64_t left = 0;

        run_stage_start(stage);
        run_node_report(stage->run, 0, &report);
        detail = report.detail;
        g_assert_true(g_str_has_prefix(detail, "continues in "));
        g_assert_cmpint(span_parse(detail + strlen("continues in "), &left), ==, 0);
        g_assert_cmpuint(left, <=, 60 * G_USEC_PER_SEC);
        g_assert_cmpuint(left, >, 30 * G_USEC_PER_SEC);
}

static void test_delay_says_how_long(void) {
        say_how_long("");
        say_how_long(", 'clock': 'boottime'");
}

/* A condition that acts begins only after the tick that starts it, and not if that tick stops it again. */
static void test_condition_that_acts(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'WaitFor', 'name': 'W', 'child': { 'type': 'Sequence', "
                                                  "'children': [ { 'type': 'FakeDeed', 'name': 'C' }, "
                                                  "{ 'type': 'FakeDeed', 'name': 'D', 'text': 'the bus' } ] } }"),
                            false_at_once = run_stage_new("{ 'type': 'FakeDeed', 'name': 'E', 'fails': true }"),
                            stopped = run_stage_new("{ 'type': 'Parallel', 'name': 'P', 'children': [ { 'type': "
                                                    "'FakeDeed', 'name': 'F' }, " FAILS("G") " ] }"),
                            held_up = run_stage_new("{ 'type': 'FakeDeed', 'name': 'H', 'text': 'the bus', 'timeout': "
                                                    "'1ms' }");

        run_start(stage->run, NULL);
        g_assert_cmpuint(fake_starts("C"), ==, 0);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("C"), ==, 1);
        run_stage_assert_node(stage, 2, STATUS_RUNNING, NULL);
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_node(stage, 3, STATUS_RUNNING, "waits for the bus");
        fake_set_value("D", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);

        run_stage_start(false_at_once);
        run_stage_assert_finished(false_at_once, STATUS_FAILURE, "E: told to fail");

        run_stage_start(stopped);
        run_stage_assert_finished(stopped, STATUS_FAILURE, "P/G: told to fail");
        g_assert_cmpuint(fake_starts("F"), ==, 0);

        run_stage_start(held_up);
        run_stage_await_finish(held_up);
        run_stage_assert_finished(held_up, STATUS_FAILURE, "H: timed out after 1ms; it waited for the bus");
}

static void test_awaits(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'Parallel', 'children': [" ACTION("A") ", " CONDITION("B") ", " ACTION("C") "] }");
        static const struct {
                NodeId node;
                uint32_t attempt;
                bool awaits;
        } cases[] = {
                { 0, 1, false }, { 1, 1, true }, { 1, 2, false }, { 2, 1, true }, { 3, 1, false }, { 4, 1, false }
        };

        run_stage_start(stage);
        run_stage_end(stage, "C", STATUS_SUCCESS, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_true(run_awaits(stage->run, cases[i].node, cases[i].attempt) == cases[i].awaits);
}

static void on_node_changed(NodeId node, void *userdata) {
        g_string_append_printf(userdata, "%u ", node);
}

static void on_run_ready(void *userdata) {
        g_string_append(userdata, "ready ");
}

static void test_observer(void) {
        static const RunObserver whole = { .changed = on_node_changed, .ready = on_run_ready }, none = {};
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'Sequence', 'children': [ { 'type': 'FakeAction', 'name': "
                                                  "'A', 'ready': true }, " ACTION("B") "] }"),
                            other = run_stage_new("{ 'type': 'FakeAction', 'name': 'C', 'ready': true }");
        g_autoptr(GString) seen = g_string_new(NULL);

        run_observe(stage->run, &whole, seen);
        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(seen->str, ==, "0 1 1 ready 2 ");

        run_observe(other->run, &none, NULL);
        run_stage_start(other);
        run_stage_end(other, "C", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(other, STATUS_SUCCESS, NULL);
}

static void test_free_in_the_middle(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Parallel', 'children': [" ACTION("A") ", " CONDITION("C") "] }");

        run_stage_start(stage);
        g_clear_pointer(&stage->run, run_free);
        g_assert_false(fake_is_alive("A") || fake_is_alive("C"));
        run_stage_turn(stage);
        g_assert_cmpuint(stage->finished, ==, 0);
}

/* A loop without an end takes turns with everything else. */
static void test_endless_loop(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'RetryUntilSuccessful', 'num_attempts': -1, 'child': " FAILS("A") "}");

        run_start(stage->run, NULL);
        for (unsigned i = 0; i < 10; i++)
                g_main_context_iteration(stage->context, FALSE);
        g_assert_cmpuint(fake_starts("A"), <=, 10);
        run_stage_halt(stage, "enough");
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
}

/* What goes on although it was halted may come to an error. */
static void test_error_of_what_goes_on(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'Sequence', 'name': 'Boot', 'children': [ "
                                                  "{ 'type': 'FakeAction', 'name': 'A', 'uninterruptible': true } ] }");

        run_stage_start(stage);
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(fake_halts("A"), ==, 0);
        fake_break("A", "a > 1: attempt to compare nil with number");
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_ERROR, "Boot/A: a > 1: attempt to compare nil with number");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run/success", test_success);
        g_test_add_func("/run/failure-has-a-cause", test_failure_has_a_cause);
        g_test_add_func("/run/cause-before-a-clean-up", test_cause_before_a_clean_up);
        g_test_add_func("/run/cause-of-a-clean-up", test_cause_of_a_clean_up);
        g_test_add_func("/run/cause-of-a-parallel", test_cause_of_a_parallel);
        g_test_add_func("/run/false-for-another-reason", test_false_for_another_reason);
        g_test_add_func("/run/attempts", test_attempts);
        g_test_add_func("/run/rounds", test_rounds);
        g_test_add_func("/run/elements", test_elements);
        g_test_add_func("/run/timeout-decorator", test_timeout_decorator);
        g_test_add_func("/run/rate-controller", test_rate_controller);
        g_test_add_func("/run/timeout-of-a-leaf", test_timeout_of_a_leaf);
        g_test_add_func("/run/timeout-and-halt", test_timeout_and_halt);
        g_test_add_func("/run/halt-is-awaited", test_halt_is_awaited);
        g_test_add_func("/run/halt-before-the-first-tick", test_halt_before_the_first_tick);
        g_test_add_func("/run/error-halts", test_error_halts);
        g_test_add_func("/run/error-of-a-clean-up-after-an-error", test_error_of_a_clean_up_after_an_error);
        g_test_add_func("/run/bad-reference-is-a-failure", test_bad_reference_is_a_failure);
        g_test_add_func("/run/variables", test_variables);
        g_test_add_func("/run/condition", test_condition);
        g_test_add_func("/run/condition-in-rounds", test_condition_in_rounds);
        g_test_add_func("/run/condition-fails", test_condition_fails);
        g_test_add_func("/run/condition-changes", test_condition_changes);
        g_test_add_func("/run/changes", test_changes);
        g_test_add_func("/run/condition-that-dips", test_condition_that_dips);
        g_test_add_func("/run/delay-says-how-long", test_delay_says_how_long);
        g_test_add_func("/run/condition-that-acts", test_condition_that_acts);
        g_test_add_func("/run/awaits", test_awaits);
        g_test_add_func("/run/observer", test_observer);
        g_test_add_func("/run/free-in-the-middle", test_free_in_the_middle);
        g_test_add_func("/run/endless-loop", test_endless_loop);
        g_test_add_func("/run/error-of-what-goes-on", test_error_of_what_goes_on);
        return g_test_run();
}
