/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests locks that nodes of several runs share. */

#include <glib/gstdio.h>
#include <string.h>

#include "run-stage.h"

#define LOCKED(name) "{ 'type': 'FakeAction', 'name': '" name "', 'stubborn': true, 'lock': 'disk' }"
#define PARALLEL(one, other) "{ 'type': 'Parallel', 'children': [" one ", " other "] }"
#define RETRY(child) "{ 'type': 'RetryUntilSuccessful', 'num_attempts': 2, 'child': " child " }"

/* Two nodes of one run. */
static void test_lock(void) {
        g_autoptr(RunStage) stage = run_stage_new(PARALLEL(LOCKED("A"), LOCKED("B")));

        run_stage_start(stage);
        g_assert_true(fake_is_alive("A") && !fake_is_alive("B"));
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the lock 'disk', which test.1 (A) holds");
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_true(fake_is_alive("B"));
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the test to go on");
        run_stage_end(stage, "B", STATUS_SUCCESS, NULL);
        run_stage_assert_finished(stage, STATUS_SUCCESS, NULL);
}

/* It is let go of when the holder has really ended, not when it was told to. */
static void test_lock_of_another_run(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        Run *other = run_stage_add(stage, "test.2");

        run_stage_start(stage);
        run_start(other, NULL);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        g_assert_cmpuint(run_n_lock_waiters(stage->run), ==, 0);
        g_assert_cmpuint(run_n_lock_waiters(other), ==, 1);
        run_stage_halt(stage, "enough");
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
        run_free(other);
}

static void test_lock_of_a_run_that_is_freed(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        Run *other = run_stage_add(stage, "test.2");

        run_start(other, NULL);
        run_stage_start(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        run_free(other);
        run_stage_turn(stage);
        g_assert_cmpuint(fake_starts("A"), ==, 2);
}

static void test_halt_while_waiting_for_a_lock(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        Run *other = run_stage_add(stage, "test.2");

        run_start(other, NULL);
        run_stage_start(stage);
        run_stage_halt(stage, "enough");
        run_stage_assert_finished(stage, STATUS_HALTED, "enough");
        g_assert_cmpuint(fake_starts("A"), ==, 1);
        run_free(other);
}

/* In one tick, the lock is granted to a node, and this node is halted, begins anew and takes the lock. */
static void test_granted_to_a_node_that_is_halted(void) {
        g_autoptr(RunStage) stage = run_stage_new(PARALLEL(LOCKED("A"), RETRY(PARALLEL(LOCKED("B"), ACTION("C")))));

        run_stage_start(stage);
        g_assert_true(fake_is_alive("A") && !fake_is_alive("B"));
        fake_end("A", STATUS_SUCCESS, NULL);
        run_stage_end(stage, "C", STATUS_FAILURE, NULL);
        g_assert_cmpuint(fake_starts("C"), ==, 2);
        g_assert_cmpuint(fake_starts("B"), ==, 1);
        run_stage_assert_node(stage, 4, STATUS_RUNNING, "waits for the test to go on");
}

typedef struct Waiting {
        char *path;   /* the record of the run that holds the lock */
        char *record; /* as it was when the lock was granted */
} Waiting;

static void on_granted(void *userdata) {
        Waiting *waiting = userdata;

        g_assert_true(g_file_get_contents(waiting->path, &waiting->record, NULL, NULL));
}

/* The next holder may start at once, and btd may crash then: by that time, the lock is free in the record. */
static void test_released_in_the_record_first(void) {
        g_autoptr(RunStage) stage = run_stage_new(LOCKED("A"));
        g_autofree char *directory = g_dir_make_tmp("btd-test-XXXXXX", NULL),
                        *runs = g_build_filename(directory, "runs", NULL),
                        *path = g_build_filename(runs, "test.1.journal", NULL), *record = NULL;
        g_autoptr(RecordStore) store = record_store_new(directory, NULL, &limits_default, NULL, NULL, NULL);
        LockParty *party = lock_party_new(stage->locks);
        Waiting waiting = { .path = path };
        LockRequest *request;

        run_begin_record(stage->run, store, "a test");
        run_stage_start(stage);
        request = lock_request_new(party, "disk", &(LockOwner){ .name = "another" }, on_granted, &waiting);
        g_assert_false(lock_request_is_held(request));
        run_stage_end(stage, "A", STATUS_SUCCESS, NULL);
        record = waiting.record;
        g_assert_nonnull(record);
        g_assert_nonnull(strstr(record, " unlock #0"));

        lock_request_free(request);
        lock_party_free(party);
        run_close_record(stage->run);
        g_assert_cmpint(g_remove(path), ==, 0);
        g_assert_cmpint(g_rmdir(runs), ==, 0);
        g_assert_cmpint(g_rmdir(directory), ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-locks/lock", test_lock);
        g_test_add_func("/run-locks/lock-of-another-run", test_lock_of_another_run);
        g_test_add_func("/run-locks/lock-of-a-run-that-is-freed", test_lock_of_a_run_that_is_freed);
        g_test_add_func("/run-locks/halt-while-waiting-for-a-lock", test_halt_while_waiting_for_a_lock);
        g_test_add_func("/run-locks/granted-to-a-node-that-is-halted", test_granted_to_a_node_that_is_halted);
        g_test_add_func("/run-locks/released-in-the-record-first", test_released_in_the_record_first);
        return g_test_run();
}
