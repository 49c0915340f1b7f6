/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Tests the order of what has happened before the next btd came back: leaves that have ended, and limits that have
 * passed. The clock stands still, but for the time that btd is away.
 */

#include "recoverable-leaves.h"
#include "recovery-stage.h"
#include "run/run.h"
#include "stopped-clock.h"

#define SECOND UINT64_C(1000000)
#define AWAY (10 * SECOND)

#define LIMITED                                                                                                        \
        "'root': { 'type': 'Timeout', 'name': 'T', 'timeout': '3s', 'child': { 'type': 'Reader', 'name': 'R' } }"

/* The leaf began at the same time as its limit. */
static uint64_t kill_for_long(RecoveryStage *stage) {
        uint64_t begun = timers_now(stage->timers, TIMER_MONOTONIC);

        clock_move(AWAY);
        recovery_stage_kill(stage);
        return begun;
}

static RecoveryStage *open_stage(const char *root, uint64_t *ret_begun) {
        RecoveryStage *stage;

        clock_stop();
        stage = recovery_stage_new(root);
        recovery_stage_start(stage, "");
        *ret_begun = kill_for_long(stage);
        return stage;
}

static void close_stage(RecoveryStage *stage) {
        recovery_stage_free(stage);
        clock_continue();
}

static void end_at(const char *name, uint64_t ended) {
        recoverable_read(name, ended);
        recoverable_end(name, STATUS_SUCCESS);
}

/* after: when the leaf has ended, since it began. */
static void assert_limit(const char *root, uint64_t after, Status status, const char *cause) {
        uint64_t begun;
        RecoveryStage *stage = open_stage(root, &begun);

        g_assert_cmpint(run_status(recovery_stage_run(stage, "t.1")), ==, STATUS_RUNNING);
        end_at("R", begun + after);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", status, cause);
        close_stage(stage);
}

static void test_limit(void) {
        assert_limit(LIMITED, 1 * SECOND, STATUS_SUCCESS, NULL);
        assert_limit(LIMITED, 3 * SECOND, STATUS_SUCCESS, NULL);
        assert_limit(LIMITED, 3 * SECOND + 1, STATUS_FAILURE, "T: timed out after 3s");
}

static void test_timeout_of_the_leaf(void) {
        const char *root = "'root': { 'type': 'Reader', 'name': 'R', 'timeout': '3s' }";

        assert_limit(root, 3 * SECOND, STATUS_SUCCESS, NULL);
        assert_limit(root, 3 * SECOND + 1, STATUS_FAILURE, "R: timed out after 3s");
}

/* Nobody knows when it has ended, perhaps in time. */
static void test_lost(void) {
        g_autoptr(RecoveryStage) stage = NULL;

        clock_stop();
        stage = recovery_stage_new(LIMITED);
        recovery_stage_start(stage, "");
        recoverable_set_memo("R", "x");
        kill_for_long(stage);
        recoverable_lost("R");
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("R"), ==, "start abandon recover clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE,
                                       "T/R: btd was restarted while this was under way, so how it ended is not known");
        clock_continue();
}

/* It still runs: the limit counts at once. */
static void test_still_running(void) {
        uint64_t begun;
        RecoveryStage *stage = open_stage(LIMITED, &begun);

        recoverable_read("R", 0);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("R"), ==, "start abandon recover halt clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "T: timed out after 3s");
        close_stage(stage);
}

/* systemd does not answer: limits count after ten seconds. */
static void test_never_read(void) {
        uint64_t begun;
        RecoveryStage *stage = open_stage(LIMITED, &begun);

        clock_move(10 * SECOND - 1);
        recovery_stage_turn(stage);
        g_assert_cmpint(run_status(recovery_stage_run(stage, "t.1")), ==, STATUS_RUNNING);
        clock_move(1);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "T: timed out after 3s");
        close_stage(stage);
}

/* The end of the first one waits for the second one. What the first one says meanwhile is ignored. */
static void test_all_are_read(void) {
        uint64_t begun;
        RecoveryStage *stage = open_stage(
                "'root': { 'type': 'Timeout', 'name': 'T', 'timeout': '3s', 'child': { 'type': 'ParallelAll',"
                "'children': [ { 'type': 'Reader', 'name': 'A' }, { 'type': 'Reader', 'name': 'B' } ] } }",
                &begun);

        end_at("A", begun + SECOND);
        recoverable_output("A", "a", 7);
        recoverable_end("A", STATUS_FAILURE);
        recoverable_lost("A");
        recovery_stage_turn(stage);
        g_assert_cmpint(run_status(recovery_stage_run(stage, "t.1")), ==, STATUS_RUNNING);
        end_at("B", begun + 2 * SECOND);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover clean ");
        close_stage(stage);
}

static void test_halted_meanwhile(void) {
        uint64_t begun;
        RecoveryStage *stage = open_stage(LIMITED, &begun);

        end_at("R", begun + SECOND);
        run_halt(recovery_stage_run(stage, "t.1"), cause_new(CAUSE_HALTED, NULL, "enough"));
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("R"), ==, "start abandon recover clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "enough");
        close_stage(stage);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/recovery-times/limit", test_limit);
        g_test_add_func("/recovery-times/timeout-of-the-leaf", test_timeout_of_the_leaf);
        g_test_add_func("/recovery-times/lost", test_lost);
        g_test_add_func("/recovery-times/still-running", test_still_running);
        g_test_add_func("/recovery-times/never-read", test_never_read);
        g_test_add_func("/recovery-times/all-are-read", test_all_are_read);
        g_test_add_func("/recovery-times/halted-meanwhile", test_halted_meanwhile);

        return g_test_run();
}
