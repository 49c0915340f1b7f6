/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a daemon leaves, the next one takes up: each kind of leaf, timers, locks, what people have asked for. */

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/timers.h"
#include "lasting-leaves.h"
#include "runtime/manager-control.h"
#include "runtime/run-control.h"
#include "runtime/run-journal.h"

typedef struct Stage {
        GMainContext *context;
        Timers *timers;
        LeafServices services;
        char *top, *trees[2], *runtime, *state;
        Manager *manager;
        GString *events;
        bool idle;
} Stage;

static void on_run_added(Run *run, void *userdata) {
        g_string_append_printf(((Stage *) userdata)->events, "+%s ", run_id(run));
}

static void on_run_finished(Run *run, void *userdata) {
        g_string_append_printf(((Stage *) userdata)->events, "=%s ", run_id(run));
}

static void on_run_state_changed(Run *run, void *userdata) {
        g_string_append_printf(((Stage *) userdata)->events, "~%s ", run_id(run));
}

static void on_idle(void *userdata) {
        ((Stage *) userdata)->idle = true;
}

static const ManagerObserver observer = {
        .run_added = on_run_added,
        .run_state_changed = on_run_state_changed,
        .run_finished = on_run_finished,
        .idle = on_idle,
};

static const Caller test_caller = { .pid = 1234, .command = (char *) "test", .text = (char *) "UID 0 (test)" };

static void put(const Stage *stage, const char *file, const char *text) {
        g_autofree char *path = g_build_filename(stage->trees[0], file, NULL);
        g_autofree char *json = g_strdelimit(g_strdup(text), "'", '"');

        g_assert_true(g_file_set_contents(path, json, -1, NULL));
}

/* A daemon comes up. */
static void begin(Stage *stage) {
        const ManagerOptions options = {
                .directories = (const char *const *) stage->trees,
                .tables = lasting_tables,
                .runtime_directory = stage->runtime,
                .state_directory = stage->state,
        };
        g_autofree char *error = NULL;

        stage->timers = timers_new(stage->context);
        stage->services = (LeafServices){ .timers = stage->timers };
        stage->manager = manager_new(stage->context, &stage->services, &options);
        manager_observe(stage->manager, &observer, stage);
        manager_load(stage->manager);
        g_assert_cmpint(manager_recover(stage->manager, &error), ==, 0);
        g_assert_cmpstr(error, ==, NULL);
        manager_autostart(stage->manager);
}

static void turn(const Stage *stage) {
        while (g_main_context_iteration(stage->context, FALSE))
                ;
}

/* It is gone, and another one comes up. What lies about is as it was when the first one was killed, since nothing is
 * written when it is freed. */
static void kill_and_begin(Stage *stage) {
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        begin(stage);
        turn(stage);
}

static Stage *stage_new(const char *root) {
        Stage *stage = g_new0(Stage, 1);
        g_autofree char *text = g_strdup_printf("{ 'btd': 1, 'blackboard': { 'a': 0, 'quick': 0 }, %s }", root);

        stage->context = g_main_context_new();
        stage->top = g_dir_make_tmp("btd-recovery-XXXXXX", NULL);
        stage->trees[0] = g_build_filename(stage->top, "trees", NULL);
        stage->runtime = g_build_filename(stage->top, "run", NULL);
        stage->state = g_build_filename(stage->top, "state", NULL);
        stage->events = g_string_new(NULL);
        g_assert_cmpint(g_mkdir(stage->trees[0], 0700), ==, 0);
        put(stage, "t.json", text);
        begin(stage);
        return stage;
}

static void remove_all(const char *path) {
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory))) {
                g_autofree char *inner = g_build_filename(path, name, NULL);

                remove_all(inner);
        }

        (void) g_remove(path);
}

static void stage_free(Stage *stage) {
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_main_context_unref(stage->context);
        remove_all(stage->top);
        g_string_free(stage->events, TRUE);
        g_free(stage->top);
        g_free(stage->trees[0]);
        g_free(stage->runtime);
        g_free(stage->state);
        g_free(stage);
        lasting_reset();
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stage, stage_free)

static Run *start(Stage *stage, const char *instance) {
        g_autofree char *error = NULL;
        Run *run = NULL;

        manager_start(stage->manager, "t", instance, NULL, "a test", &run, &error);
        g_assert_cmpstr(error, ==, NULL);
        turn(stage);
        return run;
}

static Run *run_of(Stage *stage, const char *id) {
        Run *run = manager_run(stage->manager, id);

        g_assert_nonnull(run);
        return run;
}

static void assert_finished(Stage *stage, const char *id, Status status, const char *cause) {
        const Run *run = run_of(stage, id);

        g_assert_cmpstr(status_to_string(run_status(run)), ==, status_to_string(status));
        g_assert_cmpstr(run_cause(run), ==, cause);
}

static bool is_there(const char *directory, const char *file) {
        g_autofree char *path = g_build_filename(directory, file, NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS);
}

static char *journal_path(const Stage *stage, const char *run) {
        g_autofree char *file = g_strconcat(run, ".journal", NULL);

        return g_build_filename(stage->runtime, "runs", file, NULL);
}

static void test_run_is_the_same(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Sequence', 'name': 'S', 'children': ["
                                           "{ 'type': 'Quick', 'name': 'Q' }, { 'type': 'Lasting', 'name': 'A' },"
                                           "{ 'type': 'Lasting', 'name': 'B' } ] }");
        const Run *run = start(stage, "left");
        uint64_t started = run_started(run);
        json_object *value;

        lasting_remember("A", "x");
        lasting_output("A", "a", 7);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");
        kill_and_begin(stage);

        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 ");
        run = run_of(stage, "t.1");
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
        turn(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start ");
        lasting_end("B", STATUS_FAILURE);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_FAILURE, "S/B: told to");
        g_assert_false(is_there(stage->runtime, "runs/t.1.journal"));
        g_assert_true(is_there(stage->state, "history/t.1.journal"));
}

/* So that it counts for whoever has started it. */
static void test_whose(void) {
        const Caller user = { .uid = 1000, .text = (char *) "UID 1000 (test)" };
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");
        g_autofree char *error = NULL;
        Run *run;

        g_assert_cmpint(manager_start_for(stage->manager, "t", "", NULL, &user, &run, &error), ==, 0);
        start(stage, "other");
        kill_and_begin(stage);
        g_assert_cmpuint(run_caller(run_of(stage, "t.1")), ==, 1000);
        g_assert_cmpuint(run_caller(run_of(stage, "t.2")), ==, 0);
}

/* What has ended meanwhile, and what ended just before. */
static void test_ended(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'ParallelAll', 'max_failures': 3, 'children': ["
                                           "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lasting', 'name': 'B' },"
                                           "{ 'type': 'Lasting', 'name': 'C' } ] }");

        start(stage, "");
        lasting_end("A", STATUS_FAILURE);
        lasting_recover_with("B", STATUS_FAILURE);
        lasting_recover_with("C", STATUS_SUCCESS);
        kill_and_begin(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start clean ");
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon recover clean ");
        assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

static void test_on_recover(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'ParallelAll', 'max_failures': 0, 'children': ["
                                           "{ 'type': 'Lossy', 'name': 'A' },"
                                           "{ 'type': 'Lossy', 'name': 'B', 'on_recover': 'rerun' },"
                                           "{ 'type': 'Plain', 'name': 'C' } ] }");

        start(stage, "");
        kill_and_begin(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon ");
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon start ");
        g_assert_cmpstr(lasting_events("C"), ==, "start abandon start ");

        /* The one that was started again can be lost again. */
        kill_and_begin(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon start abandon start ");
        lasting_end("B", STATUS_SUCCESS);
        lasting_end("C", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_FAILURE,
                        "ParallelAll/A: the daemon was restarted while this was under way, so how it ended is not "
                        "known");
        g_assert_cmpstr(cause_origin(run_cause_chain(run_of(stage, "t.1")))->kind, ==, CAUSE_LOST);
}

/* What is lost is found out later. */
static void test_lost(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");

        start(stage, "");
        lasting_recover_with("A", STATUS_RUNNING);
        kill_and_begin(stage);
        lasting_lost("A");
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover clean start ");
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

static void test_conditions(void) {
        g_autoptr(Stage) stage =
                stage_new("'root': { 'type': 'ReactiveSequence', 'children': [ { 'type': 'Watch', 'name': 'W' },"
                          "{ 'type': 'Lasting', 'name': 'A' } ] }");

        lasting_begin_with("W", STATUS_SUCCESS);
        start(stage, "");
        g_assert_true(lasting_is_alive("A"));

        /* While it is not known again, it is what it was. */
        lasting_begin_with("W", STATUS_RUNNING);
        kill_and_begin(stage);
        g_assert_cmpstr(lasting_events("W"), ==, "start abandon start ");
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover ");
        lasting_set_value("W", STATUS_SUCCESS);
        turn(stage);
        g_assert_true(lasting_is_alive("A"));

        /* What it is by now counts. */
        lasting_begin_with("W", STATUS_FAILURE);
        kill_and_begin(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover abandon recover halt clean ");
        assert_finished(stage, "t.1", STATUS_FAILURE, "ReactiveSequence/W: failed");
}

static void wait_for_end(Stage *stage, const char *id) {
        while (run_status(run_of(stage, id)) == STATUS_RUNNING)
                g_main_context_iteration(stage->context, TRUE);
}

static void test_timers(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Fallback', 'children': ["
                                           "{ 'type': 'Timeout', 'timeout': '150ms', 'child': "
                                           "{ 'type': 'Lasting', 'name': 'A' } },"
                                           "{ 'type': 'Lasting', 'name': 'B', 'timeout': '100ms' } ] }");
        int64_t begin_time = g_get_monotonic_time();

        start(stage, "");
        kill_and_begin(stage);
        kill_and_begin(stage);
        while (!lasting_is_alive("B"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpint(g_get_monotonic_time() - begin_time, >=, 150000);

        /* Its own limit is over when the next daemon comes. */
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_usleep(110000);
        begin(stage);
        wait_for_end(stage, "t.1");
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon recover halt clean ");
        assert_finished(stage, "t.1", STATUS_FAILURE, "Fallback/B: timed out after 100ms");
}

static void test_halting(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'ParallelAll', 'children': ["
                                           "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lossy', 'name': 'B' } ] }");
        g_autofree char *error = NULL;

        lasting_stubborn("A");
        start(stage, "");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, &error), ==, 0);
        turn(stage);
        g_assert_true(run_halting(run_of(stage, "t.1")));
        kill_and_begin(stage);

        /* The halt goes on; what is gone is over. */
        g_assert_true(run_halting(run_of(stage, "t.1")));
        g_assert_cmpstr(lasting_events("A"), ==, "start halt abandon recover halt ");
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_HALTED, "halted by UID 0 (test)");
}

static void test_by_hand(void) {
        g_autoptr(Stage) stage =
                stage_new("'root': { 'type': 'Sequence', 'children': ["
                          "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lasting', 'name': 'B' } ] }");
        Run *run = start(stage, "");

        run_set_breakpoint(run, 2, true);
        run_force(run, 1, STATUS_SUCCESS, cause_new(CAUSE_FORCED, NULL, "by a test"));
        turn(stage);
        g_assert_true(run_paused(run));
        g_assert_cmpuint(run_stops(run)->len, ==, 1);

        kill_and_begin(stage);
        run = run_of(stage, "t.1");
        g_assert_true(run_paused(run));
        g_assert_cmpuint(run_stops(run)->len, ==, 1);
        g_assert_cmpuint(run_breakpoints(run)->len, ==, 1);
        g_assert_cmpstr(lasting_events("B"), ==, "");
        run_resume(run);
        turn(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start ");
}

static void test_locks(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A', 'lock': 'disk' }");

        start(stage, "1");
        start(stage, "2");
        start(stage, "3");
        g_assert_cmpstr(lasting_events("A"), ==, "start ");
        kill_and_begin(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover ");
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(lasting_events("A"), ==, "start abandon recover clean start ");

        kill_and_begin(stage);
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.2", STATUS_SUCCESS, NULL);
        g_assert_cmpint(run_status(run_of(stage, "t.3")), ==, STATUS_RUNNING);
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.3", STATUS_SUCCESS, NULL);
}

/* Its tree is the one that it was started with. */
static void test_changed_tree(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Sequence', 'children': ["
                                           "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Quick', 'name': 'B' } ] }");

        start(stage, "");
        put(stage, "t.json", "{ 'btd': 1, 'root': { 'type': 'Quick', 'name': 'C' } }");
        kill_and_begin(stage);
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        g_assert_cmpstr(lasting_events("B"), ==, "start clean ");
        start(stage, "");
        g_assert_cmpstr(lasting_events("C"), ==, "start clean ");
}

static void test_restarts(void) {
        g_autoptr(Stage) stage =
                stage_new("'restart': 'always', 'restart_backoff': { 'initial': '50ms', 'factor': 1 },"
                          "'restart_limit': { 'burst': 2 }, 'root': { 'type': 'Quick', 'name': 'A', 'fails': true }");

        start(stage, "");
        assert_finished(stage, "t.1", STATUS_FAILURE, "A: told to");
        kill_and_begin(stage);
        while (!manager_run(stage->manager, "t.2"))
                g_main_context_iteration(stage->context, TRUE);
        turn(stage);
        kill_and_begin(stage);
        while (!manager_run(stage->manager, "t.3"))
                g_main_context_iteration(stage->context, TRUE);
        turn(stage);
        {
                g_autofree char *text = manager_describe_restart(stage->manager, run_of(stage, "t.3"));

                g_assert_cmpstr(text, ==, "not restarted: it was restarted 2 times within 10min, which is the limit");
        }
}

/* What was started by itself is not, once more. */
static void test_autostart(void) {
        g_autoptr(Stage) stage = stage_new("'autostart': true, 'root': { 'type': 'Lasting', 'name': 'A' }");

        turn(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");
        kill_and_begin(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 ");
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        kill_and_begin(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 =t.1 ");

        /* Unless the daemon was stopped with all its runs. */
        manager_stop(stage->manager);
        turn(stage);
        manager_free(stage->manager);
        timers_free(stage->timers);
        begin(stage);
        turn(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 =t.1 +t.2 ");
}

/* The daemon was killed before it could note that it has started it, or even before the run had begun. */
static void test_autostart_not_noted(void) {
        g_autoptr(Stage) stage = stage_new("'autostart': true, 'root': { 'type': 'Lasting', 'name': 'A' }");
        g_autofree char *noted = g_build_filename(stage->runtime, "autostarted", NULL),
                        *path = journal_path(stage, "t.1");

        turn(stage);
        g_assert_cmpint(g_unlink(noted), ==, 0);
        kill_and_begin(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 ");
        g_assert_true(g_file_test(noted, G_FILE_TEST_EXISTS));

        for (size_t length = 0; length < 2; length++) {
                g_assert_cmpint(g_unlink(noted), ==, 0);
                manager_leave(stage->manager);
                manager_free(stage->manager);
                timers_free(stage->timers);
                g_string_truncate(stage->events, 0);
                g_assert_true(g_file_set_contents(path, "btd-journal 1 {", length == 0 ? 0 : -1, NULL));
                begin(stage);
                turn(stage);
                g_assert_cmpuint(manager_runs(stage->manager)->len, ==, 1);
                g_assert_cmpstr(stage->events->str, ==, length == 0 ? "+t.2 " : "+t.3 ");
                g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
                g_assert_cmpint(manager_halt_run(stage->manager, length == 0 ? "t.2" : "t.3", &test_caller, NULL), ==,
                                0);
                turn(stage);
        }
}

/* There was no time left to halt it: that is for the next daemon, as if this one had been killed. */
static void test_given_up(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");

        start(stage, "");
        lasting_stubborn("A");
        manager_stop(stage->manager);
        turn(stage);
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_cmpstr(lasting_events("A"), ==, "start halt abandon ");
        begin(stage);
        turn(stage);
        g_assert_cmpstr(lasting_events("A"), ==, "start halt abandon recover halt ");
        lasting_end("A", STATUS_FAILURE);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_HALTED, "the daemon is stopping");
}

/* The last thing that a tree does with a condition is to turn it. */
static void test_turned(void) {
        g_autoptr(Stage) stage =
                stage_new("'root': { 'type': 'Parallel', 'children': [ { 'type': 'ReactiveSequence', 'children': ["
                          "{ 'type': 'Condition', 'test': 'a < 2' }, { 'type': 'Script', 'code': 'a = a + 1' } ] },"
                          "{ 'type': 'Script', 'code': 'a = a + 1' }, { 'type': 'Lasting', 'name': 'A' } ] }");

        start(stage, "");
        kill_and_begin(stage);
        g_assert_true(lasting_is_alive("A"));
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

static void test_on_stop(void) {
        g_autoptr(Stage) stage =
                stage_new("'on_stop': 'halt', 'autostart': true, 'root': { 'type': 'Lasting', 'name': 'A' }");

        put(stage, "u.json", "{ 'btd': 1, 'root': { 'type': 'Lasting', 'name': 'B' } }");
        g_ptr_array_unref(manager_reload(stage->manager));
        {
                g_autofree char *error = NULL;
                Run *run;

                g_assert_cmpint(manager_start(stage->manager, "u", "", NULL, "a test", &run, &error), ==, 0);
        }
        turn(stage);
        lasting_stubborn("A");
        manager_leave(stage->manager);
        turn(stage);
        g_assert_false(stage->idle);
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        g_assert_true(stage->idle);
        assert_finished(stage, "t.1", STATUS_HALTED, "the daemon is stopping");
        g_assert_cmpint(run_status(run_of(stage, "u.1")), ==, STATUS_RUNNING);

        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon ");
        begin(stage);
        turn(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start abandon recover ");
        g_assert_nonnull(manager_run(stage->manager, "t.2"));
        g_assert_null(manager_run(stage->manager, "t.1"));
}

static unsigned count_lines(const char *path, const char *part) {
        g_autofree char *text = NULL;
        unsigned n = 0;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        for (const char *found = text; (found = strstr(found, part)); found++)
                n++;

        return n;
}

/* Broken off behind each record: what was in flight is in flight, what had not begun begins, and it comes to the same.
 */
static void test_any_record(void) {
        static const char root[] = "'root': { 'type': 'Sequence', 'children': [ { 'type': 'Quick', 'name': 'Q' },"
                                   "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lasting', 'name': 'B' },"
                                   "{ 'type': 'Quick', 'name': 'R' } ] }";
        g_autofree char *whole = NULL;
        gsize length = 0;

        {
                g_autoptr(Stage) stage = stage_new(root);
                g_autofree char *path = g_build_filename(stage->state, "history", "t.1.journal", NULL);

                start(stage, "");
                lasting_end("A", STATUS_SUCCESS);
                turn(stage);
                lasting_end("B", STATUS_SUCCESS);
                turn(stage);
                g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
        }

        for (const char *end = strchr(whole, '\n') + 1; end; end = strchr(end, '\n') ? strchr(end, '\n') + 1 : NULL) {
                g_autoptr(Stage) stage = stage_new(root);
                g_autofree char *path = NULL, *history = g_build_filename(stage->state, "history", "t.1.journal", NULL);

                manager_free(stage->manager);
                timers_free(stage->timers);
                path = journal_path(stage, "t.1");
                {
                        g_autofree char *directory = g_path_get_dirname(path);

                        g_assert_cmpint(g_mkdir_with_parents(directory, 0700), ==, 0);
                }
                g_assert_true(g_file_set_contents(path, whole, end - whole, NULL));
                begin(stage);
                turn(stage);
                for (unsigned i = 0; i < 2; i++) {
                        const char *name = i == 0 ? "A" : "B";

                        if (lasting_is_alive(name))
                                lasting_end(name, STATUS_SUCCESS);
                        turn(stage);
                }

                assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
                g_assert_cmpuint(count_lines(history, " finished "), ==, 1);
                /* Each is started or taken up by this daemon, or was over. */
                g_assert_cmpuint(strlen(lasting_events("A")), <=, strlen("recover clean "));
        }
}

static void write_journal(const Stage *stage, const char *run, const char *text, gssize length) {
        g_autofree char *path = journal_path(stage, run);

        g_assert_true(g_file_set_contents(path, text, length, NULL));
}

static void test_set_aside(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");
        g_autofree char *path = NULL, *good = NULL, *other = NULL;
        gsize length;
        char *byte;

        start(stage, "");
        path = journal_path(stage, "t.1");
        g_assert_true(g_file_get_contents(path, &good, &length, NULL));

        /* A byte in the middle. */
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        other = g_memdup2(good, length + 1);
        byte = strstr(other, " start ");
        byte[1] = 'S';
        write_journal(stage, "t.1", other, (gssize) length);
        /* Another boot. */
        write_journal(stage, "t.2", good, (gssize) length);
        /* Another version. */
        write_journal(stage, "t.3", "btd-journal 9 {} 5d1c0d5f\n", -1);
        begin(stage);
        turn(stage);

        g_assert_true(is_there(stage->state, "t.1.journal.bad"));
        g_assert_true(is_there(stage->state, "t.2.journal.bad"));
        g_assert_true(is_there(stage->state, "t.3.journal.bad"));
        g_assert_cmpuint(manager_runs(stage->manager)->len, ==, 0);

        /* They are in nobody's way. */
        start(stage, "");
        g_assert_true(lasting_is_alive("A"));
}

/* Nothing can be written: the run goes on, and says what it would not survive. */
static void test_not_durable(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");
        g_autofree char *runs = g_build_filename(stage->runtime, "runs", NULL);
        g_autofree char *expected = g_strdup_printf("%s cannot be made: Not a directory", runs);
        Run *run;

        g_assert_true(g_file_set_contents(runs, "in the way", -1, NULL));
        run = start(stage, "");
        g_assert_false(run_is_durable(run));
        g_assert_cmpstr(run_not_durable(run), ==, expected);
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
}

/* No file may become larger than it is. */
static void limit_files(uint64_t size, struct rlimit *ret_before) {
        struct rlimit limit;

        g_assert_cmpint(getrlimit(RLIMIT_FSIZE, ret_before), ==, 0);
        limit = *ret_before;
        limit.rlim_cur = size;
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
}

/* There was room for the beginning, and then there is none. */
static void test_not_durable_any_more(void) {
        g_autoptr(Stage) stage =
                stage_new("'root': { 'type': 'Sequence', 'children': ["
                          "{ 'type': 'Lasting', 'name': 'A' }, { 'type': 'Lasting', 'name': 'B' } ] }");
        g_autofree char *path = NULL, *expected = NULL;
        const Run *run = start(stage, "");
        struct rlimit before;
        struct stat st;

        g_assert_true(run_is_durable(run));
        g_assert_cmpstr(run_not_durable(run), ==, NULL);
        path = journal_path(stage, "t.1");
        g_assert_cmpint(stat(path, &st), ==, 0);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");

        signal(SIGXFSZ, SIG_IGN);
        limit_files((uint64_t) st.st_size + 5, &before);
        lasting_end("A", STATUS_SUCCESS);
        turn(stage);
        g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);

        expected = g_strdup_printf("%s cannot be written: File too large", path);
        g_assert_false(run_is_durable(run));
        g_assert_cmpstr(run_not_durable(run), ==, expected);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ~t.1 ");
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
        g_assert_cmpstr(lasting_events("B"), ==, "start ");

        /* So it is halted, like all that the next daemon would not know of. */
        manager_leave(stage->manager);
        turn(stage);
        g_assert_cmpstr(lasting_events("B"), ==, "start halt clean ");
        assert_finished(stage, "t.1", STATUS_HALTED, "the daemon is stopping");
}

static void test_another_daemon(void) {
        g_autoptr(Stage) stage = stage_new("'root': { 'type': 'Lasting', 'name': 'A' }");
        const ManagerOptions options = {
                .directories = (const char *const *) stage->trees,
                .tables = lasting_tables,
                .runtime_directory = stage->runtime,
        };
        g_autoptr(Manager) other = manager_new(stage->context, &stage->services, &options);
        g_autofree char *error = NULL, *expected = NULL;

        start(stage, "");
        expected = g_strdup_printf("%s is in use by another btd; give it another --runtime=", stage->runtime);
        g_assert_cmpint(manager_recover(other, &error), ==, -EBUSY);
        g_assert_cmpstr(error, ==, expected);
        g_assert_cmpuint(manager_runs(other)->len, ==, 0);
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
        g_test_add_func("/recovery/restarts", test_restarts);
        g_test_add_func("/recovery/autostart", test_autostart);
        g_test_add_func("/recovery/autostart-not-noted", test_autostart_not_noted);
        g_test_add_func("/recovery/given-up", test_given_up);
        g_test_add_func("/recovery/turned", test_turned);
        g_test_add_func("/recovery/on-stop", test_on_stop);
        g_test_add_func("/recovery/any-record", test_any_record);
        g_test_add_func("/recovery/set-aside", test_set_aside);
        g_test_add_func("/recovery/not-durable", test_not_durable);
        g_test_add_func("/recovery/not-durable-any-more", test_not_durable_any_more);
        g_test_add_func("/recovery/another-daemon", test_another_daemon);
        return g_test_run();
}
