/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests pausing, stepping and forcing of runs. */

#include <errno.h>
#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "run-stage.h"
#include "run/events.h"
#include "run/run.h"

#define TWO "{ 'type': 'Sequence', 'name': 'Boot', 'children': [" ACTION("A") ", " ACTION("B") "] }"

static void assert_nodes(const GArray *nodes, NodeId only) {
        if (only == NODE_NONE) {
                g_assert_null(nodes);
                return;
        }

        g_assert_nonnull(nodes);
        g_assert_cmpuint(nodes->len, ==, 1);
        g_assert_cmpuint(g_array_index(nodes, NodeId, 0), ==, only);
}

static Cause *by_hand(void) {
        return cause_new(CAUSE_FORCED, NULL, "forced by hand");
}

static void test_pause(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_stage_start(stage);
        run_pause(stage->run, NULL);
        run_pause(stage->run, NULL);
        g_assert_true(run_paused(stage->run));
        g_assert_cmpuint(stage->state_changes, ==, 1);
        /* What runs goes on, but nothing follows. */
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fake_starts("B"), ==, 0);
        run_resume(stage->run, NULL);
        run_resume(stage->run, NULL);
        g_assert_false(run_paused(stage->run));
        g_assert_cmpuint(stage->state_changes, ==, 2);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("B"));
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

static void test_pause_before_the_first_tick(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_start(stage->run, NULL);
        run_pause(stage->run, NULL);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
        run_resume(stage->run, NULL);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("A"));
}

static void test_timers_go_on(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [{ 'type': 'FakeAction', 'name': 'A', 'timeout': '2s' "
                              "}, " ACTION("B") "] }");

        run_stage_start(stage);
        run_pause(stage->run, NULL);
        while (fake_halts("A") == 0)
                g_main_context_iteration(stage->context, TRUE);
        run_stage_turn(stage);
        g_assert_cmpuint(stage->finished, ==, 0);
        run_resume(stage->run, NULL);
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Sequence/A: timed out after 2s");
}

/* A step without anything to process is no event. */
static void test_step(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);
        uint64_t n_events;

        run_stage_start(stage);
        g_assert_false(run_step(stage->run, NULL));
        run_pause(stage->run, NULL);
        n_events = run_n_events(stage->run);
        g_assert_false(run_step(stage->run, NULL));
        g_assert_cmpuint(run_n_events(stage->run), ==, n_events);
        fake_end("A", STATUS_SUCCESS, NULL);
        g_assert_true(run_step(stage->run, NULL));
        g_assert_cmpuint(run_n_events(stage->run), ==, n_events + 1);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("B"));
        g_assert_true(run_paused(stage->run));
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        g_assert_cmpuint(stage->finished, ==, 0);
        g_assert_true(run_step(stage->run, NULL));
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
        g_assert_false(run_paused(stage->run));
}

static void test_halt_a_paused_run(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Parallel', 'children': [" ACTION("A") ", " STUBBORN("B") "] }");

        run_stage_start(stage);
        run_pause(stage->run, NULL);
        run_stage_halt(stage, "halted by the test");
        g_assert_false(run_paused(stage->run));
        g_assert_true(run_halting(stage->run));
        /* Nothing of this does anything any more. */
        run_pause(stage->run, NULL);
        run_set_breakpoint(stage->run, 1, true, NULL);
        g_assert_false(run_step(stage->run, NULL));
        g_assert_false(run_force(stage->run, 1, STATUS_SUCCESS, by_hand()));
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_HALTED, "halted by the test");
        run_pause(stage->run, NULL);
        run_resume(stage->run, NULL);
        g_assert_false(run_paused(stage->run));
}

static void test_breakpoint(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_set_breakpoint(stage->run, 2, true, NULL);
        run_set_breakpoint(stage->run, 2, true, NULL);
        assert_nodes(run_breakpoints(stage->run), 2);
        assert_nodes(run_stops(stage->run), NODE_NONE);
        g_assert_cmpuint(stage->state_changes, ==, 1);
        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_true(run_paused(stage->run));
        g_assert_cmpuint(stage->state_changes, ==, 2);
        assert_nodes(run_stops(stage->run), 2);
        g_assert_cmpuint(fake_starts("B"), ==, 0);
        run_resume(stage->run, NULL);
        assert_nodes(run_stops(stage->run), NODE_NONE);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("B"));
        g_assert_false(run_paused(stage->run));
        run_set_breakpoint(stage->run, 2, false, NULL);
        assert_nodes(run_breakpoints(stage->run), NODE_NONE);
}

static void test_step_from_a_breakpoint(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_set_breakpoint(stage->run, 1, true, NULL);
        run_stage_start(stage);
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "paused at a breakpoint");
        g_assert_true(run_step(stage->run, NULL));
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("A"));
        g_assert_true(run_paused(stage->run));
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "waits for the test to go on");
}

static void test_halt_at_a_breakpoint(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_set_breakpoint(stage->run, 1, true, NULL);
        run_stage_start(stage);
        run_stage_halt(stage, "halted by the test");
        run_stage_assert_finished(stage, STATUS_HALTED, "halted by the test");
        g_assert_cmpuint(fake_starts("A"), ==, 0);
}

/* Its parent has no use for it any more, while it still stands there. */
static void test_a_breakpoint_that_is_left(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'Fallback', 'children': [{ 'type': 'Parallel', 'failure_count': 1, 'children': [" ACTION(
                        "A") ", " ACTION("B") "] }, " ACTION("C") "] }");

        run_set_breakpoint(stage->run, 3, true, NULL);
        run_stage_start(stage);
        assert_nodes(run_stops(stage->run), 3);
        fake_end("A", STATUS_FAILURE, NULL);
        g_assert_true(run_paused(stage->run));
        run_stage_turn(stage);
        run_set_breakpoint(stage->run, 3, false, NULL);
        g_assert_true(run_step(stage->run, NULL));
        run_stage_turn(stage);
        assert_nodes(run_stops(stage->run), NODE_NONE);
        run_resume(stage->run, NULL);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("C"));
}

static void test_force_what_runs(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" STUBBORN("A") ", " ACTION("B") "] }");

        run_stage_start(stage);
        g_assert_true(run_force(stage->run, 1, STATUS_SUCCESS, by_hand()));
        run_stage_turn(stage);
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        g_assert_cmpuint(fake_starts("B"), ==, 0);
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        g_assert_true(fake_is_alive("B"));
}

static void test_force_what_is_to_come(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_stage_start(stage);
        g_assert_false(run_force(stage->run, 2, STATUS_FAILURE, by_hand()));
        run_stage_assert_node(stage, 2, STATUS_IDLE, "will be failure, forced by hand");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fake_starts("B"), ==, 0);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Boot/B: forced by hand");
}

static void test_force_at_a_breakpoint(void) {
        g_autoptr(RunStage) stage = run_stage_new(TWO);

        run_set_breakpoint(stage->run, 1, true, NULL);
        run_stage_start(stage);
        run_force(stage->run, 1, STATUS_SUCCESS, by_hand());
        run_stage_turn(stage);
        g_assert_true(run_paused(stage->run));
        run_stage_assert_node(stage, 1, STATUS_RUNNING, "paused at a breakpoint; will be success, forced by hand");
        run_resume(stage->run, NULL);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
        g_assert_true(fake_is_alive("B"));
}

static void set(const RunStage *stage, const char *values, const char *error) {
        g_autoptr(json_object) object = json_tokener_parse(values);
        g_autofree char *is = NULL;

        g_assert_cmpint(run_set_values(stage->run, object, NULL, &is), ==, error ? -EINVAL : 0);
        g_assert_cmpstr(is, ==, error);
        run_stage_turn(stage);
}

static void test_set_values(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" ACTION("A") ", { 'type': 'FakeNow', 'name': 'B', "
                                                                                "'fails': true, 'text': '{who}' }] }");

        run_stage_start(stage);
        set(stage, "{ \"who\": \"you\" }", NULL);
        set(stage, "{ \"who\": \"them\", \"whom\": 5 }", "the tree has no variable 'whom'; did you mean 'who'?");
        set(stage, "{ \"who\": \"them\", \"1\": 5 }",
            "'1' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and '-', 255 "
            "at "
            "most)");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "Sequence/B: you");
}

static void test_tokens(void) {
        g_autofree char *error = NULL;

        g_assert_cmpint(run_check_token("boot.1_a-B", &error), ==, 0);
        g_assert_cmpint(run_check_token("a b", &error), ==, -EINVAL);
        g_assert_cmpstr(error, ==,
                        "'a b' cannot be a token; it consists of letters, digits, '_', '.' and '-', 50 at most");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-control/pause", test_pause);
        g_test_add_func("/run-control/pause-before-the-first-tick", test_pause_before_the_first_tick);
        g_test_add_func("/run-control/timers-go-on", test_timers_go_on);
        g_test_add_func("/run-control/step", test_step);
        g_test_add_func("/run-control/halt-a-paused-run", test_halt_a_paused_run);
        g_test_add_func("/run-control/breakpoint", test_breakpoint);
        g_test_add_func("/run-control/step-from-a-breakpoint", test_step_from_a_breakpoint);
        g_test_add_func("/run-control/halt-at-a-breakpoint", test_halt_at_a_breakpoint);
        g_test_add_func("/run-control/a-breakpoint-that-is-left", test_a_breakpoint_that_is_left);
        g_test_add_func("/run-control/force-what-runs", test_force_what_runs);
        g_test_add_func("/run-control/force-what-is-to-come", test_force_what_is_to_come);
        g_test_add_func("/run-control/force-at-a-breakpoint", test_force_at_a_breakpoint);
        g_test_add_func("/run-control/set-values", test_set_values);
        g_test_add_func("/run-control/tokens", test_tokens);
        return g_test_run();
}
