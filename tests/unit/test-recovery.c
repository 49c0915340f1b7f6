/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What runs a daemon leaves, the next one takes up: each kind of leaf, timers, locks, what people have asked for. */

#include "lasting-leaves.h"
#include "recovery-stage.h"
#include "runtime/run-control.h"
#include "runtime/run-journal.h"

static const Caller test_caller = { .pid = 1234, .command = (char *) "test", .text = (char *) "UID 0 (test)" };

static void test_run_is_the_same(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Sequence', 'name': 'S', 'children': ["
                                   "{ 'type': 'Quick', 'name': 'Q' }, { 'type': 'Lasting', 'name': 'A' },"
                                   "{ 'type': 'Lasting', 'name': 'B' } ] }");
        const Run *run = recovery_stage_start(stage, "left");
        uint64_t started = run_started(run);
        json_object *value;

        lasting_remember("A", "x");
        lasting_output("A", "a", 7);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");
        recovery_stage_kill(stage);

        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 ");
        run = recovery_stage_run(stage, "t.1");
        g_assert_cmpstr(run_tree(run), ==, "t");
        g_assert_cmpstr(run_instance(run), ==, "left");
        g_assert_cmpuint(run_started(run), ==, started);
        g_assert_cmpint(run_status(run), ==, STATUS_RUNNING);
        g_assert_true(run_is_durable(run));
        g_assert_true(blackboard_get(run_blackboard((Run *) run), "a", &value));
        g_assert_cmpint(json_object_get_int(value), ==, 7);
        g_assert_true(blackboard_get(run_blackboard((Run *) run), "quick", &value));
        g_assert_cmpint(json_object_get_int(value), ==, 1);

        g_assert_cmpstr(lasting_events("Q"), ==, "start clean ");
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover ");
        g_assert_cmpstr(lasting_memory("A"), ==, "{ \"text\": \"x\" }");
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start ");
        lasting_end("B", STATUS_FAILURE);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "S/B: told to");
        g_assert_false(is_there(stage->runtime, "runs/t.1.journal"));
        g_assert_true(is_there(stage->state, "history/t.1.journal"));
}

/* So that it counts for whoever has started it. */
static void test_whose(void) {
        const Caller user = { .uid = 1000, .text = (char *) "UID 1000 (test)" };
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");
        g_autofree char *error = NULL;
        Run *run;

        g_assert_cmpint(manager_start_for(stage->manager, "t", "", NULL, &user, &run, &error), ==, 0);
        recovery_stage_start(stage, "other");
        recovery_stage_kill(stage);
        g_assert_cmpuint(run_caller(recovery_stage_run(stage, "t.1")), ==, 1000);
        g_assert_cmpuint(run_caller(recovery_stage_run(stage, "t.2")), ==, 0);
}

/* What has ended meanwhile, and what ended just before. */
static void test_ended(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'ParallelAll', 'max_failures': 3, 'children': ["
                                   "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lasting', 'name': 'B' },"
                                   "{ 'type': 'Lasting', 'name': 'C' } ] }");

        recovery_stage_start(stage, "");
        lasting_end("A", STATUS_FAILURE);
        lasting_recover_with("B", STATUS_FAILURE);
        lasting_recover_with("C", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start clean ");
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon recover clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

static void test_on_recover(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'ParallelAll', 'max_failures': 0, 'children': ["
                                   "{ 'type': 'Lossy', 'name': 'A' },"
                                   "{ 'type': 'Lossy', 'name': 'B', 'on_recover': 'rerun' },"
                                   "{ 'type': 'Plain', 'name': 'C' } ] }");

        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon ");
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon start ");
        g_assert_cmpstr(lasting_events("C"), ==, "start abandon start ");

        /* The one that was started again can be lost again. */
        recovery_stage_kill(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon start abandon start ");
        lasting_end("B", STATUS_SUCCESS);
        lasting_end("C", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(
                stage, "t.1", STATUS_FAILURE,
                "ParallelAll/A: the daemon was restarted while this was under way, so how it ended is not "
                "known");
        g_assert_cmpstr(cause_origin(run_cause_chain(recovery_stage_run(stage, "t.1")))->kind, ==, CAUSE_LOST);
}

/* What is lost is found out later. */
static void test_lost(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");

        recovery_stage_start(stage, "");
        lasting_recover_with("A", STATUS_RUNNING);
        recovery_stage_kill(stage);
        lasting_lost("A");
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover clean start ");
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

static void test_conditions(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'ReactiveSequence', 'children': [ { 'type': 'Watch', 'name': 'W' },"
                "{ 'type': 'Lasting', 'name': 'A' } ] }");

        lasting_begin_with("W", STATUS_SUCCESS);
        recovery_stage_start(stage, "");
        g_assert_true(lasting_is_alive("A"));

        /* While it is not known again, it is what it was. */
        lasting_begin_with("W", STATUS_RUNNING);
        recovery_stage_kill(stage);
        g_assert_cmpstr(lasting_events("W"), ==, "start abandon start ");
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover ");
        lasting_set_value("W", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        g_assert_true(lasting_is_alive("A"));

        /* What it is by now counts. */
        lasting_begin_with("W", STATUS_FAILURE);
        recovery_stage_kill(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover abandon recover halt clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "ReactiveSequence/W: failed");
}

static void wait_for_end(RecoveryStage *stage, const char *id) {
        while (run_status(recovery_stage_run(stage, id)) == STATUS_RUNNING)
                g_main_context_iteration(stage->context, TRUE);
}

static void test_timers(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Fallback', 'children': ["
                                                            "{ 'type': 'Timeout', 'timeout': '150ms', 'child': "
                                                            "{ 'type': 'Lasting', 'name': 'A' } },"
                                                            "{ 'type': 'Lasting', 'name': 'B', 'timeout': '1ms' } ] }");
        int64_t begin_time = g_get_monotonic_time(), over;

        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        recovery_stage_kill(stage);
        while (!lasting_is_alive("B"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpint(g_get_monotonic_time() - begin_time, >=, 150000);

        /* Its own limit is over when the next daemon comes. */
        over = g_get_monotonic_time() + 1000;
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        while (g_get_monotonic_time() <= over)
                ;
        recovery_stage_begin(stage);
        wait_for_end(stage, "t.1");
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon recover halt clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "Fallback/B: timed out after 1ms");
}

static void test_halting(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'ParallelAll', 'children': ["
                                   "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lossy', 'name': 'B' } ] }");
        g_autofree char *error = NULL;

        lasting_stubborn("A");
        recovery_stage_start(stage, "");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, &error), ==, 0);
        recovery_stage_turn(stage);
        g_assert_true(run_halting(recovery_stage_run(stage, "t.1")));
        recovery_stage_kill(stage);

        /* The halt goes on; what is gone is over. */
        g_assert_true(run_halting(recovery_stage_run(stage, "t.1")));
        g_assert_cmpstr(lasting_events("A"), ==, "start halt abandon recover halt ");
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "halted by UID 0 (test)");
}

static void test_by_hand(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Sequence', 'children': ["
                                   "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lasting', 'name': 'B' } ] }");
        Run *run = recovery_stage_start(stage, "");

        run_set_breakpoint(run, 2, true);
        run_force(run, 1, STATUS_SUCCESS, cause_new(CAUSE_FORCED, NULL, "by a test"));
        recovery_stage_turn(stage);
        g_assert_true(run_paused(run));
        g_assert_cmpuint(run_stops(run)->len, ==, 1);

        recovery_stage_kill(stage);
        run = recovery_stage_run(stage, "t.1");
        g_assert_true(run_paused(run));
        g_assert_cmpuint(run_stops(run)->len, ==, 1);
        g_assert_cmpuint(run_breakpoints(run)->len, ==, 1);
        g_assert_cmpstr(lasting_events("B"), ==, "");
        run_resume(run);
        recovery_stage_turn(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start ");
}

static void test_locks(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Lasting', 'name': 'A', 'lock': 'disk' }");

        recovery_stage_start(stage, "1");
        recovery_stage_start(stage, "2");
        recovery_stage_start(stage, "3");
        g_assert_cmpstr(lasting_events("A"), ==, "start ");
        recovery_stage_kill(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover ");
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover clean start ");

        recovery_stage_kill(stage);
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.2", STATUS_SUCCESS, NULL);
        g_assert_cmpint(run_status(recovery_stage_run(stage, "t.3")), ==, STATUS_RUNNING);
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.3", STATUS_SUCCESS, NULL);
}

/* Its tree is the one that it was started with. */
static void test_changed_tree(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Sequence', 'children': ["
                                   "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Quick', 'name': 'B' } ] }");

        recovery_stage_start(stage, "");
        recovery_stage_put(stage, "t.json", "{ 'btd': 1, 'root': { 'type': 'Quick', 'name': 'C' } }");
        recovery_stage_kill(stage);
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(lasting_events("B"), ==, "start clean ");
        recovery_stage_start(stage, "");
        g_assert_cmpstr(lasting_events("C"), ==, "start clean ");
}

/* The last thing that a tree does with a condition is to turn it. */
static void test_turned(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Parallel', 'children': [ { 'type': 'ReactiveSequence', 'children': ["
                "{ 'type': 'Condition', 'test': 'a < 2' }, { 'type': 'Script', 'code': 'a = a + 1' } ] },"
                "{ 'type': 'Script', 'code': 'a = a + 1' }, { 'type': 'Lasting', 'name': 'A' } ] }");

        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        g_assert_true(lasting_is_alive("A"));
        lasting_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/recovery/run-is-the-same", test_run_is_the_same);
        g_test_add_func("/recovery/whose", test_whose);
        g_test_add_func("/recovery/ended", test_ended);
        g_test_add_func("/recovery/on-recover", test_on_recover);
        g_test_add_func("/recovery/lost", test_lost);
        g_test_add_func("/recovery/conditions", test_conditions);
        g_test_add_func("/recovery/timers", test_timers);
        g_test_add_func("/recovery/halting", test_halting);
        g_test_add_func("/recovery/by-hand", test_by_hand);
        g_test_add_func("/recovery/locks", test_locks);
        g_test_add_func("/recovery/changed-tree", test_changed_tree);
        g_test_add_func("/recovery/turned", test_turned);
        return g_test_run();
}
