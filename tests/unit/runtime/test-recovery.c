/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests that the next btd recovers runs: each kind of leaf, timers, locks, and requests of people. */

#include <glib/gstdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "loading.h"
#include "recoverable-leaves.h"
#include "recovery-stage.h"
#include "run/run.h"
#include "stopped-clock.h"

static const Caller test_caller = { .pid = 1234, .command = (char *) "test", .text = (char *) "UID 0 (test)" };

static void test_run_is_the_same(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Sequence', 'name': 'S', 'children': ["
                                   "{ 'type': 'Quick', 'name': 'Q' }, { 'type': 'Recoverable', 'name': 'A' },"
                                   "{ 'type': 'Recoverable', 'name': 'B' } ] }");
        const Run *run = recovery_stage_start(stage, "left");
        uint64_t started = run_started(run);
        json_object *value;

        recoverable_set_memo("A", "x");
        recoverable_output("A", "a", 7);
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

        g_assert_cmpstr(recoverable_events("Q"), ==, "start clean ");
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover ");
        g_assert_cmpstr(recoverable_memo("A"), ==, "{ \"text\": \"x\" }");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        g_assert_cmpstr(recoverable_events("B"), ==, "start ");
        recovery_stage_end(stage, "B", STATUS_FAILURE);
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "S/B: told to");
        g_assert_false(is_there(stage->runtime, "runs/t.1.journal"));
        g_assert_true(is_there(stage->runtime, "finished/t.1.journal"));
}

/* By a node's outcome that is in the record, or in the snapshot that the record begins with. */
static void test_ready(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Sequence', 'children': [ { 'type': 'Recoverable', 'name': 'A', 'ready': true },"
                "{ 'type': 'Recoverable', 'name': 'B' } ] }");
        const Run *run = recovery_stage_start(stage, "");
        uint64_t ready;

        recovery_stage_kill(stage);
        g_assert_cmpuint(run_ready(recovery_stage_run(stage, "t.1")), ==, 0);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        run = recovery_stage_run(stage, "t.1");
        ready = run_ready(run);
        g_assert_cmpuint(ready, >=, run_started(run));
        g_assert_true(strstr(stage->events->str, "ready t.1 "));

        g_string_truncate(stage->events, 0);
        recovery_stage_kill(stage);
        g_assert_cmpuint(run_ready(recovery_stage_run(stage, "t.1")), ==, ready);
        recovery_stage_end(stage, "B", STATUS_SUCCESS);
        g_assert_null(strstr(stage->events->str, "ready"));
}

/* So that it counts for whoever has started it. */
static void test_whose(void) {
        const Caller user = { .uid = 1000, .text = (char *) "UID 1000 (test)" };
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        const TreeStart start = { .tree = "t", .instance = "" };
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        bool begun;

        g_assert_cmpint(once_reserved(stage->context, &error,
                                      manager_start_tree(stage->manager, &start, &user, &begun, &outcome, &error)),
                        ==, 0);
        recovery_stage_start(stage, "other");
        recovery_stage_kill(stage);
        g_assert_cmpuint(run_caller(recovery_stage_run(stage, "t.1")), ==, 1000);
        g_assert_cmpuint(run_caller(recovery_stage_run(stage, "t.2")), ==, 0);
}

/* What has ended meanwhile, and what ended just before. */
static void test_ended(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'ParallelAll', 'max_failures': 3, 'children': ["
                                   "{ 'type': 'Recoverable', 'name': 'A' }, { 'type': 'Recoverable', 'name': 'B' },"
                                   "{ 'type': 'Recoverable', 'name': 'C' } ] }");

        recovery_stage_start(stage, "");
        recoverable_end("A", STATUS_FAILURE);
        recoverable_recover_with("B", STATUS_FAILURE);
        recoverable_recover_with("C", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start clean ");
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon recover clean ");
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
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon ");
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon start ");
        g_assert_cmpstr(recoverable_events("C"), ==, "start abandon start ");

        /* The one that was started again can be lost again. */
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon start abandon start ");
        recoverable_end("B", STATUS_SUCCESS);
        recovery_stage_end(stage, "C", STATUS_SUCCESS);
        recovery_stage_assert_finished(
                stage, "t.1", STATUS_FAILURE,
                "ParallelAll/A: btd was restarted while this was under way, so how it ended is not "
                "known");
        g_assert_cmpstr(cause_origin(run_cause_chain(recovery_stage_run(stage, "t.1")))->kind, ==, CAUSE_LOST);
}

/* What is lost is found out later. */
static void test_lost(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_start(stage, "");
        recoverable_recover_with("A", STATUS_RUNNING);
        recovery_stage_kill(stage);
        recoverable_lost("A");
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover clean start ");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

static void test_conditions(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'ReactiveSequence', 'children': [ { 'type': 'Watch', 'name': 'W' },"
                "{ 'type': 'Recoverable', 'name': 'A' } ] }");

        recoverable_begin_with("W", STATUS_SUCCESS);
        recovery_stage_start(stage, "");
        g_assert_true(recoverable_is_alive("A"));

        /* While it is not known again, it is what it was. */
        recoverable_begin_with("W", STATUS_RUNNING);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("W"), ==, "start abandon start ");
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover ");
        recoverable_set_value("W", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        g_assert_true(recoverable_is_alive("A"));

        /* What it is by now counts. */
        recoverable_begin_with("W", STATUS_FAILURE);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover abandon recover halt clean ");
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "ReactiveSequence/W: failed");
}

/* A condition stays false for another reason: an input of its own, on which later decisions of the tree depend. */
static void test_reason(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'WaitFor', 'name': 'F', 'timeout': '1s',"
                                                            "'child': { 'type': 'Watch', 'name': 'W' } }");
        g_autofree char *path = recovery_stage_record(stage, "t.1"), *record = NULL;

        clock_stop();
        recovery_stage_start(stage, "");
        recoverable_set_reason("W", "it is 1");
        recoverable_set_value("W", STATUS_FAILURE);
        recovery_stage_turn(stage);
        recoverable_set_reason("W", "it is 2");
        g_assert_true(g_file_get_contents(path, &record, NULL, NULL));
        g_assert_nonnull(strstr(record, " reason #1 {\"status\":\"failure\""));
        recoverable_begin_with("W", STATUS_RUNNING);
        recovery_stage_kill(stage);
        clock_move(1000000);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "F: timed out after 1s; last: it is 2");
        clock_continue();
}

static void wait_for_end(RecoveryStage *stage, const char *id) {
        while (run_status(recovery_stage_run(stage, id)) == STATUS_RUNNING)
                g_main_context_iteration(stage->context, TRUE);
}

static void test_timers(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Fallback', 'children': ["
                                   "{ 'type': 'Timeout', 'timeout': '2s', 'child': "
                                   "{ 'type': 'Recoverable', 'name': 'A' } },"
                                   "{ 'type': 'Recoverable', 'name': 'B', 'timeout': '1ms' } ] }");

        clock_stop();
        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        clock_move(1000000);
        recovery_stage_kill(stage);
        clock_move(1000000 - 1);
        recovery_stage_turn(stage);
        g_assert_false(recoverable_is_alive("B"));
        clock_move(1);
        recovery_stage_turn(stage);
        g_assert_true(recoverable_is_alive("B"));

        /* Its own limit is over when the next daemon comes. */
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        clock_move(1000);
        recovery_stage_begin(stage);
        wait_for_end(stage, "t.1");
        clock_continue();
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon recover halt clean ");
        recovery_stage_assert_finished(
                stage, "t.1", STATUS_FAILURE,
                "Fallback: all 2 children failed: Timeout: timed out after 2s; B: timed out after 1ms");
}

static void test_halting(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'ParallelAll', 'children': ["
                                   "{ 'type': 'Recoverable', 'name': 'A' }, { 'type': 'Lossy', 'name': 'B' } ] }");
        g_autofree char *error = NULL;

        recoverable_stubborn("A");
        recovery_stage_start(stage, "");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, &error), ==, 0);
        recovery_stage_turn(stage);
        g_assert_true(run_halting(recovery_stage_run(stage, "t.1")));
        recovery_stage_kill(stage);

        /* The halt goes on; what is gone is over. */
        g_assert_true(run_halting(recovery_stage_run(stage, "t.1")));
        g_assert_cmpstr(recoverable_events("A"), ==, "start halt abandon recover halt ");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "halted by UID 0 (test)");
}

/* The daemon stops between the end of a halted leaf and the tick that follows; the tick has yet to run the hook. */
static void test_halted_just_before(void) {
        static const char *const more[] = { "'always': 'a = 1'", "'uninterruptible': true, 'always': 'a = 1'" };

        for (size_t i = 0; i < G_N_ELEMENTS(more); i++) {
                g_autofree char *root = g_strdup_printf("'root': { 'type': 'Recoverable', 'name': 'A', %s }", more[i]),
                                *error = NULL;
                g_autoptr(RecoveryStage) stage = recovery_stage_new(root);
                g_autoptr(json_object) variables = NULL;

                recoverable_stubborn("A");
                recovery_stage_start(stage, "");
                g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, &error), ==, 0);
                recovery_stage_turn(stage);
                recoverable_end("A", STATUS_FAILURE);
                manager_abandon(stage->manager);
                recovery_stage_kill(stage);
                recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "halted by UID 0 (test)");
                variables = blackboard_to_json(run_blackboard(recovery_stage_run(stage, "t.1")));
                g_assert_cmpint(json_object_get_int(json_object_object_get(variables, "a")), ==, 1);
        }
}

static void test_by_hand(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Sequence', 'children': ["
                "{ 'type': 'Recoverable', 'name': 'A' }, { 'type': 'Recoverable', 'name': 'B' } ] }");
        Run *run = recovery_stage_start(stage, "");

        run_set_breakpoint(run, 2, true, NULL);
        run_force(run, 1, STATUS_SUCCESS, cause_new(CAUSE_FORCED, NULL, "by a test"));
        recovery_stage_turn(stage);
        g_assert_true(run_paused(run));
        g_assert_cmpuint(run_stops(run)->len, ==, 1);

        recovery_stage_kill(stage);
        run = recovery_stage_run(stage, "t.1");
        g_assert_true(run_paused(run));
        g_assert_cmpuint(run_stops(run)->len, ==, 1);
        g_assert_cmpuint(run_breakpoints(run)->len, ==, 1);
        g_assert_cmpstr(recoverable_events("B"), ==, "");
        run_resume(run, NULL);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("B"), ==, "start ");
}

static void test_locks(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A', 'lock': 'disk' }");

        recovery_stage_start(stage, "1");
        recovery_stage_start(stage, "2");
        recovery_stage_start(stage, "3");
        g_assert_cmpstr(recoverable_events("A"), ==, "start ");
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover ");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover clean start ");

        recovery_stage_kill(stage);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.2", STATUS_SUCCESS, NULL);
        g_assert_cmpint(run_status(recovery_stage_run(stage, "t.3")), ==, STATUS_RUNNING);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.3", STATUS_SUCCESS, NULL);
}

/* Its tree is the one that it was started with. */
static void test_changed_tree(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Sequence', 'children': ["
                                   "{ 'type': 'Recoverable', 'name': 'A' }, { 'type': 'Quick', 'name': 'B' } ] }");

        recovery_stage_start(stage, "");
        recovery_stage_put(stage, "t.json", "{ 'btd': 1, 'root': { 'type': 'Quick', 'name': 'C' } }");
        recovery_stage_kill(stage);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(recoverable_events("B"), ==, "start clean ");
        recovery_stage_start(stage, "");
        g_assert_cmpstr(recoverable_events("C"), ==, "start clean ");
}

/* Of two files with one name each is what it was asked for, and what lies where nothing was is none of them. */
static void test_files_with_one_name(void) {
        static const char another[] = "{ 'btd': 1, 'trees': {}, 'root': { 'type': 'Quick', 'name': 'Q' } }";
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Quick', 'name': 'Q' }");
        g_autofree char *lib = g_build_filename(stage->trees[0], "lib", NULL);

        g_assert_cmpint(g_mkdir(lib, 0700), ==, 0);
        recovery_stage_put(stage, "lib/cam.json",
                           "{ 'btd': 1, 'include': ['base.json'], 'trees': { 'lens': { 'root': { 'type': 'Recoverable',"
                           "'name': 'L' } } } }");
        recovery_stage_put(stage, "base.json",
                           "{ 'btd': 1, 'trees': { 'floor': { 'root': { 'type':"
                           "'Recoverable', 'name': 'F' } } } }");
        recovery_stage_put(stage, "cam.json", "{ 'btd': 1, 'root': { 'type': 'Recoverable', 'name': 'C' } }");
        recovery_stage_put(stage, "t.json",
                           "{ 'btd': 1, 'include': ['lib/cam.json', 'lib/../lib/cam.json'], 'root': { 'type': "
                           "'Parallel', 'children': ["
                           "{ 'type': 'SubTree', 'tree': 'lens' }, { 'type': 'SubTree', 'tree': 'floor' },"
                           "{ 'type': 'SubTree', 'tree': 'cam' } ] } }");
        recovery_stage_kill(stage);
        recovery_stage_start(stage, "");
        recovery_stage_put(stage, "t.json", another);
        recovery_stage_put(stage, "cam.json", another);
        recovery_stage_put(stage, "lib/cam.json", another);
        recovery_stage_put(stage, "lib/base.json", another);
        recovery_stage_kill(stage);

        for (const char *name = "LFC"; *name; name++) {
                const char one[] = { *name, 0 };

                g_assert_cmpstr(recoverable_events(one), ==, "start abandon recover ");
                recoverable_end(one, STATUS_SUCCESS);
        }
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

/* It has nothing beside it. */
static void test_text_in_no_file(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Quick', 'name': 'Q' }");
        g_autofree char *text = g_strdelimit(
                g_strdup("{ 'btd': 1, 'include': ['base'], 'root': { 'type': 'SubTree', 'tree': 'floor' } }"), "'",
                '"');
        g_autofree char *error = NULL;
        Run *run;

        recovery_stage_put(stage, "base.json",
                           "{ 'btd': 1, 'trees': { 'floor': { 'root': { 'type': 'Recoverable', 'name': 'F' } } } }");
        loading_start_text(stage->manager, stage->context, "text", text, &test_caller, &run, &error);
        g_assert_cmpstr(error, ==, NULL);
        recovery_stage_turn(stage);
        recovery_stage_put(stage, "base.json", "{ 'btd': 1 }");
        for (int i = 0; i < 2; i++)
                recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("F"), ==, "start abandon recover abandon recover ");
}

/* The last thing that a tree does with a condition is to turn it. */
static void test_turned(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Parallel', 'children': [ { 'type': 'ReactiveSequence', 'children': ["
                "{ 'type': 'Condition', 'test': 'a < 2' }, { 'type': 'Script', 'code': 'a = a + 1' } ] },"
                "{ 'type': 'Script', 'code': 'a = a + 1' }, { 'type': 'Recoverable', 'name': 'A' } ] }");

        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        g_assert_true(recoverable_is_alive("A"));
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

/* For the actions, everything is what it was when each began, whatever has been set since; a second time as well. The
 * condition follows its variable. */
static void assert_noted(RecoveryStage *stage, int a) {
        g_autofree char *value = g_strdup_printf("%i", a);

        g_assert_cmpstr(recoverable_what("A"), ==, "[ \"x0 {\", 0 ]");
        g_assert_cmpstr(recoverable_what("L"), ==, "{ \"deep\": [ 0 ] }");
        g_assert_cmpstr(recoverable_what("W"), ==, value);
        g_assert_cmpstr(recoverable_what("E"), ==, "[ \"one\", 0 ]");
        g_assert_true(recoverable_is_alive("L"));
        g_assert_true(recoverable_is_alive("E"));
}

static void check_noted(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'trees': { 'inner': { 'inputs': { 'from': 'any' }, 'root': { 'type': 'ForEach', 'items': ['one'], "
                "'as': 'item',"
                "'child': { 'type': 'Recoverable', 'name': 'E', 'what': ['{item}', '{from}'] } } } },"
                "'root': { 'type': 'ParallelAll', 'children': ["
                "{ 'type': 'Recoverable', 'name': 'A', 'what': ['x{a} {{', '{@a}'] },"
                "{ 'type': 'Lossy', 'name': 'L', 'what': { 'deep': ['{a}'] }, 'on_recover': 'rerun' },"
                "{ 'type': 'Watch', 'name': 'W', 'what': '{a}' },"
                "{ 'type': 'SubTree', 'tree': 'inner', 'inputs': { 'from': '{a}' } },"
                "{ 'type': 'Recoverable', 'name': 'Holds', 'lock': 'disk' },"
                "{ 'type': 'Recoverable', 'name': 'Waits', 'lock': 'disk', 'what': '{a}' } ] }");

        recovery_stage_start(stage, "");
        recoverable_output("Holds", "a", 7);
        for (int i = 1; i <= 3; i++) {
                recovery_stage_kill(stage);
                assert_noted(stage, 6 + i);
                g_assert_false(recoverable_is_alive("Waits"));
                recoverable_output("Holds", "a", 7 + i);
                recovery_stage_turn(stage);
        }

        /* That has not begun before. */
        recovery_stage_end(stage, "Holds", STATUS_SUCCESS);
        g_assert_cmpstr(recoverable_what("Waits"), ==, "10");
        recoverable_output("E", "@a", 1);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_what("Waits"), ==, "10");
        assert_noted(stage, 1);
}

static void test_noted(void) {
        check_noted();
}

/* All that there was is a snapshot by then. */
static void test_noted_in_snapshots(void) {
        record_writer_set_part(1);
        check_noted();
        record_writer_set_part(0);
}

static unsigned count_of(const char *text, const char *word) {
        unsigned n = 0;

        for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
                n++;

        return n;
}

/* Results that were too long for the run record are computed again, but only some. */
static void test_long_results(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Repeat', 'num_cycles': 20, 'child': { 'type': 'Sequence', 'children': ["
                "{ 'type': 'Script', 'code': 'n = (n or 0) + 1; text = string.rep([[x]], 70000 + n)' },"
                "{ 'type': 'Recoverable', 'name': 'A' } ] } }");
        Run *run = recovery_stage_start(stage, "");
        json_object *n = NULL;

        for (unsigned i = 1; i <= 12; i++) {
                g_autofree char *path = recovery_stage_record(stage, run_id(run)), *text = NULL;

                g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
                g_assert_cmpuint(count_of(text, " snapshot "), ==, i / 4);
                recoverable_end("A", STATUS_SUCCESS);
                recovery_stage_turn(stage);
        }
        recovery_stage_kill(stage);
        g_assert_true(blackboard_get(run_blackboard(recovery_stage_run(stage, "t.1")), "n", &n));
        g_assert_cmpint(json_object_get_int64(n), ==, 13);
}

/* 0.0 and -0.0 are equal in C, but have different texts. */
static void test_noted_zero_in_a_snapshot(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Sequence', 'children': [ { 'type': 'Script', 'code': 'a = -0.0' },"
                "{ 'type': 'ParallelAll', 'children': [ { 'type': 'Recoverable', 'name': 'A', 'what': '{a}' },"
                "{ 'type': 'Sequence', 'children': [ { 'type': 'Script', 'code': 'a = 0.0' },"
                "{ 'type': 'Recoverable', 'name': 'B' } ] } ] } ] }");

        record_writer_set_part(1);
        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_what("A"), ==, "-0.0");
        record_writer_set_part(0);
}

/* Each attempt by itself; its limit, too. */
static void test_noted_by_each_attempt(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'root': { 'type': 'Sequence', 'children': [ { 'type': 'Script', 'code': 'limit = [[1h]]' },"
                "{ 'type': 'ParallelAll', 'children': [ { 'type': 'Repeat', 'num_cycles': 3, 'child': {"
                "'type': 'Recoverable', 'name': 'A', 'what': '{a}', 'timeout': '{limit}' } },"
                "{ 'type': 'Sequence', 'children': [ { 'type': 'Recoverable', 'name': 'B' },"
                "{ 'type': 'Script', 'code': 'a, limit = 2, [[1ms]]' } ] } ] } ] }");

        recovery_stage_start(stage, "");
        recoverable_output("A", "a", 1);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_end(stage, "B", STATUS_SUCCESS);
        clock_move(2000);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start clean start abandon recover ");
        g_assert_cmpstr(recoverable_what("A"), ==, "1");
        recoverable_recover_with("A", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_what("A"), ==, "2");
}

/* What is large is only in the variables. */
static void test_noted_is_large(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A', 'what': '{a}' }");
        g_autoptr(json_object) given = json_object_new_object();
        g_autofree char *large = g_strnfill(100000, 'x'), *expected = g_strdup_printf("\"%s\"", large);
        g_autofree char *error = NULL, *path = recovery_stage_record(stage, "t.1"), *text = NULL;
        gsize length;
        Run *run;

        json_object_object_add(given, "a", json_object_new_string(large));
        once_reserved(stage->context, &error, manager_start(stage->manager, "t", "", given, "a test", &run, &error));
        g_assert_cmpstr(error, ==, NULL);
        recovery_stage_turn(stage);
        recoverable_output("A", "a", 1);
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        g_assert_cmpuint(length, <, 110000);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_what("A"), ==, expected);
}

/* What goes on without its secret is stopped, and nothing is done again without it. */
static void test_secret_is_gone(void) {
#define GONE                                                                                                           \
        "what: there is no credential 'token'; give btd one with LoadCredential= or SetCredential=, see "              \
        "systemd.exec(5)"
        static const char gone[] = "ParallelAll: 3 of its 3 children failed: A: " GONE "; B: " GONE "; C: " GONE;
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'root': { 'type': 'ParallelAll', 'children': ["
                                   "{ 'type': 'Recoverable', 'name': 'A', 'what': '{a} {secret:token}' },"
                                   "{ 'type': 'Lossy', 'name': 'B', 'what': '{secret:token}', 'on_recover': 'rerun' },"
                                   "{ 'type': 'Recoverable', 'name': 'C', 'what': '{secret:token}' } ] }");
        g_autofree char *path = g_build_filename(stage->credentials, "token", NULL),
                        *record = recovery_stage_record(stage, "t.1"), *text = NULL;

        g_assert_true(g_file_set_contents(path, "hush", -1, NULL));
        recovery_stage_start(stage, "");
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_what("A"), ==, "\"0 hush\"");
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon start ");
        g_assert_true(g_file_get_contents(record, &text, NULL, NULL));
        g_assert_null(strstr(text, "hush"));

        g_assert_cmpint(g_unlink(path), ==, 0);
        recoverable_recover_with("C", STATUS_SUCCESS);
        recoverable_stubborn("A");
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon recover abandon recover halt ");
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon start abandon ");
        g_assert_cmpstr(recoverable_events("C"), ==, "start abandon recover abandon recover clean ");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, gone);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/recovery/run-is-the-same", test_run_is_the_same);
        g_test_add_func("/recovery/ready", test_ready);
        g_test_add_func("/recovery/whose", test_whose);
        g_test_add_func("/recovery/ended", test_ended);
        g_test_add_func("/recovery/on-recover", test_on_recover);
        g_test_add_func("/recovery/lost", test_lost);
        g_test_add_func("/recovery/conditions", test_conditions);
        g_test_add_func("/recovery/reason", test_reason);
        g_test_add_func("/recovery/timers", test_timers);
        g_test_add_func("/recovery/halting", test_halting);
        g_test_add_func("/recovery/halted-just-before", test_halted_just_before);
        g_test_add_func("/recovery/by-hand", test_by_hand);
        g_test_add_func("/recovery/locks", test_locks);
        g_test_add_func("/recovery/changed-tree", test_changed_tree);
        g_test_add_func("/recovery/files-with-one-name", test_files_with_one_name);
        g_test_add_func("/recovery/text-in-no-file", test_text_in_no_file);
        g_test_add_func("/recovery/turned", test_turned);
        g_test_add_func("/recovery/noted", test_noted);
        g_test_add_func("/recovery/noted-in-snapshots", test_noted_in_snapshots);
        g_test_add_func("/recovery/long-results", test_long_results);
        g_test_add_func("/recovery/noted-zero-in-a-snapshot", test_noted_zero_in_a_snapshot);
        g_test_add_func("/recovery/noted-by-each-attempt", test_noted_by_each_attempt);
        g_test_add_func("/recovery/noted-is-large", test_noted_is_large);
        g_test_add_func("/recovery/secret-is-gone", test_secret_is_gone);
        return g_test_run();
}
