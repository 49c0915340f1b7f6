/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests halts that take time: time limits, clean-ups, and uninterruptible nodes. */

#include "run-stage.h"
#include "run/run.h"

static void test_halt_timeout(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'halt_timeout': '2ms' }");

        run_stage_start(stage);
        run_stage_halt(stage, "enough");
        run_stage_await_finish(stage);
        g_assert_false(fake_is_alive("A"));
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
}

static void test_halt_timeout_after_a_timeout(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'timeout': '1ms', 'halt_timeout': '2ms' }");

        run_stage_start(stage);
        run_stage_await_finish(stage);
        g_assert_cmpuint(fake_halts("A"), ==, 1);
        run_stage_assert_finished(
                stage, STATUS_FAILURE,
                "A: timed out after 1ms; given up, because it had not ended 2ms after it was told to end");
}

/* Its own time limit counts no more: what is being halted is not told to end once more. */
static void test_halt_before_a_timeout(void) {
        g_autoptr(RunStage) stage = run_stage_new(
                "{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'timeout': '1h', 'halt_timeout': '2h' }");

        run_stage_start(stage);
        g_assert_cmpuint(timers_next(stage->timers), <=,
                         timers_now(stage->timers, TIMER_MONOTONIC) + UINT64_C(3600) * G_USEC_PER_SEC);
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(timers_next(stage->timers), >,
                         timers_now(stage->timers, TIMER_MONOTONIC) + UINT64_C(3600) * G_USEC_PER_SEC);
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
}

/* What is between what was halted and who has halted it has not ended before that has. */
static void test_nodes_around_what_ends(void) {
        g_autoptr(RunStage) stage = run_stage_new("{ 'type': 'ReactiveFallback', 'name': 'R', 'children': [" CONDITION(
                "C") ", { 'type': 'Sequence', 'name': 'S', 'children': [" STUBBORN("A") "] } ] }");
        g_autoptr(Cause) cause = NULL;

        run_stage_start(stage);
        fake_set_value("C", STATUS_FAILURE, NULL);
        run_stage_turn(stage);
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_state(stage, 3, "halting", "halting");
        run_stage_assert_state(stage, 2, "halting", "halting");
        run_stage_assert_state(stage, 0, "running", "ends when A has stopped");
        cause = run_node_cause(stage->run, 3);
        g_assert_cmpstr(cause->text, ==, "stopped by R");
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        run_stage_assert_node(stage, 2, STATUS_HALTED, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

static void test_finally_at_a_halt(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Finally', 'children': [" STUBBORN("A") ", " ACTION("B") "] }");

        run_stage_start(stage);
        run_pause(stage->run, NULL);
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(fake_starts("B"), ==, 0);
        run_stage_end(stage, "A", STATUS_FAILURE, NULL);
        g_assert_true(fake_is_alive("B"));
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
        g_assert_cmpuint(fake_starts("B"), ==, 1);
}

/* What is left to do does not stop at a breakpoint any more. */
static void test_finally_with_a_breakpoint(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Finally', 'children': [" ACTION("A") ", " ACTION("B") "] }");

        run_set_breakpoint(stage->run, 2, true, NULL);
        run_stage_start(stage);
        run_halt(stage->run, cause_new(CAUSE_HALTED, NULL, "enough"));
        g_assert_false(run_is_at_breakpoint(stage->run, 2));
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("B"));
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
}

static void test_halt_at_the_breakpoint_of_a_clean_up(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Finally', 'children': [" ACTION("A") ", " ACTION("B") "] }");

        run_set_breakpoint(stage->run, 2, true, NULL);
        run_stage_start(stage);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_true(run_paused(stage->run));
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(fake_starts("B"), ==, 1);
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        g_assert_cmpuint(stage->finished, ==, 1);
}

/* A halt waits for what has to come to its end, which keeps its cause. */
static void test_uninterruptible(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [{ 'type': 'FakeAction', 'name': 'A', "
                              "'uninterruptible': true }, " ACTION("B") "] }");

        run_stage_start(stage);
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(fake_halts("A"), ==, 0);
        g_assert_true(fake_is_alive("A"));
        run_stage_end(stage, "A", STATUS_FAILURE, "no space left");
        g_assert_false(fake_is_alive("A"));
        g_assert_cmpuint(fake_starts("B"), ==, 0);
        run_stage_assert_node(stage, 1, STATUS_FAILURE, "no space left");
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
}

/* It would have been started when the tick is written, and is halted before. */
static void test_halted_in_the_same_tick(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Parallel', 'name': 'P', 'failure_count': 1, 'children': [" STUBBORN(
                        "A") ","
                             " { 'type': 'FakeNow', 'name': 'B', 'fails': true } ] }");

        run_stage_start(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 0);
        g_assert_cmpuint(fake_halts("A"), ==, 0);
        run_stage_assert_node(stage, 1, STATUS_HALTED, NULL);
        run_stage_assert_finished(stage, STATUS_FAILURE, "P/B: told to fail");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-halts/halt-timeout", test_halt_timeout);
        g_test_add_func("/run-halts/halt-timeout-after-a-timeout", test_halt_timeout_after_a_timeout);
        g_test_add_func("/run-halts/halt-before-a-timeout", test_halt_before_a_timeout);
        g_test_add_func("/run-halts/nodes-around-what-ends", test_nodes_around_what_ends);
        g_test_add_func("/run-halts/finally-at-a-halt", test_finally_at_a_halt);
        g_test_add_func("/run-halts/finally-with-a-breakpoint", test_finally_with_a_breakpoint);
        g_test_add_func("/run-halts/halt-at-the-breakpoint-of-a-clean-up", test_halt_at_the_breakpoint_of_a_clean_up);
        g_test_add_func("/run-halts/uninterruptible", test_uninterruptible);
        g_test_add_func("/run-halts/halted-in-the-same-tick", test_halted_in_the_same_tick);
        return g_test_run();
}
