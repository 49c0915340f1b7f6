/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests locks that nodes of several runs share. */

#include "run-stage.h"

#define LOCKED(name) "{ 'type': 'FakeAction', 'name': '" name "', 'stubborn': true, 'lock': 'disk' }"

/* Two nodes of one run. */
static void test_lock(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Parallel', 'children': [" LOCKED("A") ", " LOCKED("B") "] }");

        run_stage_start(stage);
        g_assert_true(fake_is_alive("A") && !fake_is_alive("B"));
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the lock 'disk', which test.1 (A) holds");
        fake_end("A", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_true(fake_is_alive("B"));
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the test to go on");
        fake_end("B", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* It is let go of when the holder has really ended, not when it was told to. */
static void test_lock_of_another_run(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        Run *other = run_stage_add(stage, "test.2");

        run_stage_start(stage);
        run_start(other);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        fake_end("A", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
        run_free(other);
}

static void test_lock_of_a_run_that_is_freed(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        Run *other = run_stage_add(stage, "test.2");

        run_start(other);
        run_stage_start(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        run_free(other);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
}

static void test_halt_while_waiting_for_a_lock(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        Run *other = run_stage_add(stage, "test.2");

        run_start(other);
        run_stage_start(stage);
        run_stage_halt(stage, "enough");
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        run_free(other);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-locks/lock", test_lock);
        g_test_add_func("/run-locks/lock-of-another-run", test_lock_of_another_run);
        g_test_add_func("/run-locks/lock-of-a-run-that-is-freed", test_lock_of_a_run_that_is_freed);
        g_test_add_func("/run-locks/halt-while-waiting-for-a-lock", test_halt_while_waiting_for_a_lock);
        return g_test_run();
}
