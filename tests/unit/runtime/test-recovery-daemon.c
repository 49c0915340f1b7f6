/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests what else the next btd recovers: restarts, autostarts, orders of on_finished and kept values; and that only one
 * btd runs. */

#include <errno.h>
#include <glib/gstdio.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "loading.h"
#include "record/entry.h"
#include "recoverable-leaves.h"
#include "recovery-stage.h"
#include "stopped-clock.h"

#define HOUR (INT64_C(3600) * G_USEC_PER_SEC)
#define RESTARTS_LATER                                                                                                 \
        "'restart': 'always', 'restart_backoff': { 'initial': '1h', 'max': '1h' },"                                    \
        "'root': { 'type': 'Quick', 'name': 'A', 'fails': true }"

static const Caller test_caller = { .pid = 1234, .command = (char *) "test", .text = (char *) "UID 0 (test)" };

static void test_restarts(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'restart': 'always', 'restart_backoff': { 'initial': '2s', 'factor': 1 },"
                "'restart_limit': { 'burst': 2 }, 'root': { 'type': 'Quick', 'name': 'A', 'fails': true }");

        recovery_stage_start(stage, "");
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "A: told to");
        recovery_stage_kill(stage);
        while (!runs_get(stage->manager->runs, "t.17"))
                g_main_context_iteration(stage->context, TRUE);
        recovery_stage_turn(stage);
        recovery_stage_kill(stage);
        while (!runs_get(stage->manager->runs, "t.33"))
                g_main_context_iteration(stage->context, TRUE);
        recovery_stage_turn(stage);
        {
                g_autofree char *text = manager_describe_restart(stage->manager, recovery_stage_run(stage, "t.33"));

                g_assert_cmpstr(text, ==, "not restarted: it was restarted 2 times within 10min, which is the limit");
        }
}

/* The next daemon starts it for the same user. */
static void test_owner_of_restart(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(RESTARTS_LATER);
        const TreeStart start = { .tree = "t", .instance = "" };
        const Caller who = { .uid = 1000, .text = (char *) "UID 1000" };
        g_auto(RunSummary) outcome = {};
        g_autofree char *error = NULL;
        bool begun;

        g_assert_cmpint(once_reserved(stage->context, &error,
                                      manager_start_tree(stage->manager, &start, &who, &begun, &outcome, &error)),
                        ==, 0);
        recovery_stage_turn(stage);
        clock_stop();
        recovery_stage_kill(stage);
        g_assert_null(runs_get(stage->manager->runs, "t.17"));
        clock_move(2 * HOUR);
        while (!runs_get(stage->manager->runs, "t.17"))
                g_main_context_iteration(stage->context, TRUE);
        clock_continue();
        g_assert_cmpuint(run_caller(recovery_stage_run(stage, "t.17")), ==, 1000);
}

/* Its variables have a file of their own, which cannot be written for a moment. */
static void test_large_restart(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(RESTARTS_LATER);
        g_autofree char *value = g_strnfill(5000, 'x'), *text = g_strdup_printf("t/{\"a\":\"%s\"}", value),
                        *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1),
                        *file = g_strconcat("restart-", sum, NULL), *spare = g_strconcat(file, ".new", NULL),
                        *path = g_build_filename(stage->runtime, spare, NULL), *error = NULL;
        g_autoptr(json_object) variables = json_object_new_object();
        const TreeStart start = { .tree = "t", .instance = "", .variables = variables };
        g_auto(RunSummary) outcome = {};
        bool begun;

        json_object_object_add(variables, "a", json_object_new_string(value));
        g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
        g_assert_cmpint(
                once_reserved(stage->context, &error,
                              manager_start_tree(stage->manager, &start, &test_caller, &begun, &outcome, &error)),
                ==, 0);
        clock_stop();
        recovery_stage_turn(stage);
        g_assert_cmpuint(restarts_count(stage->manager->restarts), ==, 1);
        g_assert_false(is_there(stage->runtime, file));
        g_assert_cmpint(g_rmdir(path), ==, 0);
        clock_move(2 * G_USEC_PER_SEC);
        recovery_stage_turn(stage);
        clock_continue();
        g_assert_true(is_there(stage->runtime, file));
        recovery_stage_kill(stage);
        g_assert_cmpuint(restarts_count(stage->manager->restarts), ==, 1);
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, NULL), ==, 0);
        recovery_stage_start(stage, "");
        g_assert_false(is_there(stage->runtime, file));
}

/* A restart that a user has cancelled is not there for the next daemon. */
static void test_cancelled_restart(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(RESTARTS_LATER);

        recovery_stage_start(stage, "");
        g_assert_cmpuint(restarts_count(stage->manager->restarts), ==, 1);
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, NULL), ==, 0);
        recovery_stage_kill(stage);
        g_assert_cmpuint(restarts_count(stage->manager->restarts), ==, 0);
}

/* The numbers of runs are lost, as where the state directory cannot be written; but none is given twice. */
static void test_numbers_were_lost(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *numbers = g_build_filename(stage->state, "numbers", NULL);

        recovery_stage_start(stage, "past");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_start(stage, "live");
        g_assert_cmpint(g_unlink(numbers), ==, 0);
        recovery_stage_kill(stage);
        recovery_stage_start(stage, "new");

        g_assert_cmpstr(run_instance(recovery_stage_run(stage, "t.2")), ==, "live");
        g_assert_cmpstr(run_instance(recovery_stage_run(stage, "t.3")), ==, "new");
        g_assert_true(run_is_durable(recovery_stage_run(stage, "t.3")));
}

/* What was started by itself is not, once more. */
static void test_autostart(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_turn(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");
        recovery_stage_kill(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 ");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 =t.1 ");

        /* Unless the daemon was stopped with all its runs. */
        manager_stop(stage->manager);
        recovery_stage_turn(stage);
        manager_free(stage->manager);
        timers_free(stage->timers);
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 =t.1 +t.17 ");
}

/* The daemon was killed before it could note that it has started it, or even before the run had begun. */
static void test_autostart_not_noted(void) {
        g_autoptr(RecoveryStage) stage =
                recovery_stage_new("'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *noted = g_build_filename(stage->runtime, "autostarted", NULL),
                        *path = recovery_stage_record(stage, "t.1");

        recovery_stage_turn(stage);
        g_assert_cmpint(g_unlink(noted), ==, 0);
        recovery_stage_kill(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 ");
        g_assert_true(g_file_test(noted, G_FILE_TEST_EXISTS));

        for (size_t length = 0; length < 2; length++) {
                g_assert_cmpint(g_unlink(noted), ==, 0);
                manager_leave(stage->manager);
                manager_free(stage->manager);
                timers_free(stage->timers);
                g_string_truncate(stage->events, 0);
                g_assert_true(g_file_set_contents(path, "btd-journal 1 {", length == 0 ? 0 : -1, NULL));
                recovery_stage_begin(stage);
                recovery_stage_turn(stage);
                g_assert_cmpuint(runs_list(stage->manager->runs)->len, ==, 1);
                g_assert_cmpstr(stage->events->str, ==, length == 0 ? "+t.17 " : "+t.33 ");
                g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
                g_assert_cmpint(manager_halt_run(stage->manager, length == 0 ? "t.17" : "t.33", &test_caller, NULL), ==,
                                0);
                recovery_stage_turn(stage);
        }
}

/* It was killed while it stopped. The next daemon ends what that one began, and then starts the tree again. */
static void test_killed_while_stopping(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'on_stop': 'halt', 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_turn(stage);
        recoverable_stubborn("A");
        manager_leave(stage->manager);
        recovery_stage_turn(stage);
        recovery_stage_kill(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start halt abandon recover halt ");
        recoverable_end("A", STATUS_FAILURE);
        while (!runs_get(stage->manager->runs, "t.17"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 +t.1 =t.1 +t.17 ");
}

/* The autostart has finished, and a user has started the tree since: the next daemon starts it again, too. */
static void test_started_again_by_a_user(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'on_stop': 'halt', 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_turn(stage);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_start(stage, "");
        manager_leave(stage->manager);
        recovery_stage_turn(stage);
        recovery_stage_kill(stage);
        while (!runs_get(stage->manager->runs, "t.17"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 =t.1 +t.2 =t.2 +t.17 ");
}

/* The tree has autostart since it was enabled; but a user has started it in this boot. */
static void test_enabled_and_started_by_a_user(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_put(stage, "t.json",
                           "{ 'btd': 1, 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' } }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        recovery_stage_start(stage, "");
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        recovery_stage_turn(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 =t.1 ");
}

/* One that a user has halted stays halted, and the end of an instance starts nothing. */
static void test_halted_by_a_user(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'on_stop': 'halt', 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_turn(stage);
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, NULL), ==, 0);
        recovery_stage_turn(stage);
        recovery_stage_start(stage, "b");
        manager_leave(stage->manager);
        recovery_stage_turn(stage);
        g_assert_true(stage->idle);
        g_string_truncate(stage->events, 0);
        recovery_stage_kill(stage);
        recovery_stage_turn(stage);
        g_assert_cmpstr(stage->events->str, ==, "");
}

#define PAGES                                                                                                          \
        "'on_finished': [{ 'result': 'failure', 'tree': 'pager' }], 'root': { 'type': 'Recoverable', 'name': 'A' }"
#define PAGER "'root': { 'type': 'Recoverable', 'name': 'B' }"

/* "t.1" has failed, and "pager.1" runs. */
static RecoveryStage *stage_with_pager(const char *pager) {
        RecoveryStage *stage = recovery_stage_new(PAGES);
        g_autofree char *text = g_strdup_printf("{ 'btd': 1, %s }", pager);

        recovery_stage_put(stage, "pager.json", text);
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        recovery_stage_start(stage, "");
        recovery_stage_end(stage, "A", STATUS_FAILURE);
        while (!runs_get(stage->manager->runs, "pager.1"))
                g_main_context_iteration(stage->context, TRUE);
        recovery_stage_turn(stage);
        return stage;
}

/* The orders that the next daemon would find. */
static void assert_orders(const RecoveryStage *stage, unsigned n) {
        g_autoptr(json_object) orders = boot_file_read(stage->runtime, "followers");

        g_assert_cmpuint((unsigned) json_object_array_length(orders), ==, n);
}

/* Nobody knows how the run that was started ends; the order is carried out. */
static void test_lost_follower(void) {
        g_autoptr(RecoveryStage) stage = stage_with_pager(PAGER);
        g_autofree char *path = recovery_stage_record(stage, "pager.1");

        assert_orders(stage, 1);
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_true(g_file_set_contents(path, "damaged\n", -1, NULL));
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);
        assert_orders(stage, 0);
        g_assert_cmpuint(runs_list(stage->manager->runs)->len, ==, 0);
}

/* A run whose record is not that of its tree any more: the loss starts what its tree wants, once. */
static void test_lost(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'on_finished': [{ 'result': 'lost', 'tree': 'pager@{run}' }, { 'result': 'error', 'tree': 'pager' }], "
                "'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *path = NULL, *text = NULL;
        g_autoptr(GString) record = NULL;
        uint32_t checksum;

        recovery_stage_put(stage, "pager.json", "{ 'btd': 1, " PAGER " }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        recovery_stage_start(stage, "");
        path = recovery_stage_record(stage, "t.1");
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        record = g_string_new(text);
        checksum = (uint32_t) g_ascii_strtoull(strrchr(text, ' '), NULL, 16);
        g_string_append(record, "9 timer #0");
        (void) entry_append_checksum(record, record->len - strlen("9 timer #0"), checksum);
        g_assert_true(g_file_set_contents(path, record->str, -1, NULL));
        for (unsigned i = 0; i < 2; i++) {
                recovery_stage_begin(stage);
                while (!runs_get(stage->manager->runs, "pager.1"))
                        g_main_context_iteration(stage->context, TRUE);
                recovery_stage_turn(stage);
                assert_orders(stage, 1);
                g_assert_cmpuint(runs_list(stage->manager->runs)->len, ==, 1);
                g_assert_cmpstr(run_instance(runs_get(stage->manager->runs, "pager.1")), ==, "t.1");
                if (i > 0)
                        break;

                /* btd was killed before it put the record aside. */
                manager_leave(stage->manager);
                manager_free(stage->manager);
                timers_free(stage->timers);
                g_assert_true(is_there(stage->state, "t.1.journal.bad"));
                g_assert_true(g_file_set_contents(path, record->str, -1, NULL));
        }
}

/* The file is from before the start: the disk was full. */
static void test_follower_not_noted(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(PAGES);
        g_autofree char *path = g_build_filename(stage->runtime, "followers", NULL), *text = NULL;

        recovery_stage_start(stage, "");
        recovery_stage_end(stage, "A", STATUS_FAILURE);
        assert_orders(stage, 1);
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        recovery_stage_put(stage, "pager.json", "{ 'btd': 1, " PAGER " }");
        recovery_stage_kill(stage);
        while (!runs_get(stage->manager->runs, "pager.1"))
                g_main_context_iteration(stage->context, TRUE);
        recovery_stage_turn(stage);
        recovery_stage_end(stage, "B", STATUS_SUCCESS);
        assert_orders(stage, 0);
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_true(g_file_set_contents(path, text, -1, NULL));
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);
        assert_orders(stage, 0);
        g_assert_cmpuint(runs_list(stage->manager->runs)->len, ==, 0);
}

/* Its restart is cancelled, or a user starts another run. */
static void test_cancelled_follower(void) {
        for (unsigned started = 0; started < 2; started++) {
                g_autoptr(RecoveryStage) stage = stage_with_pager(
                        "'restart': 'on-failure', 'restart_backoff': { 'initial': '1h', 'max': '1h' }, " PAGER);
                const Run *run = runs_get(stage->manager->runs, "t.1");
                g_autofree char *text = NULL, *none = NULL, *error = NULL;
                Run *next;

                recovery_stage_end(stage, "B", STATUS_FAILURE);
                text = manager_describe_restart(stage->manager, run);
                g_assert_cmpstr(text, ==, "then started pager (pager.1)");
                if (started > 0)
                        g_assert_cmpint(manager_start(stage->manager, "pager", "", NULL, "a test", &next, &error), ==,
                                        0);
                else
                        g_assert_cmpint(manager_halt_run(stage->manager, "pager.1", &test_caller, NULL), ==, 0);
                recovery_stage_turn(stage);
                none = manager_describe_restart(stage->manager, run);
                g_assert_null(none);
                assert_orders(stage, 0);
        }
}

/* As a restart, it is not for the next one if btd stops with all its runs. */
static void test_stopped_before_a_follower(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(PAGES);

        recovery_stage_start(stage, "");
        recovery_stage_end(stage, "A", STATUS_FAILURE);
        assert_orders(stage, 1);
        manager_stop(stage->manager);
        recovery_stage_turn(stage);
        assert_orders(stage, 0);
}

static void assert_kept(const RecoveryStage *stage, const char *text) {
        g_autoptr(json_object) values = NULL;

        g_assert_cmpint(manager_get_kept(stage->manager, "t", "", &values, NULL), ==, 0);
        g_assert_cmpstr(json_object_to_json_string_ext(values, JSON_C_TO_STRING_PLAIN), ==, text);
}

/* The disk takes nothing when the run finishes, and when a user forgets the value; then btd is killed. */
static void test_kept_values_that_wait(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'inputs': { 'n': { 'type': 'int', 'default': 0, 'kept': true } }, 'root': { 'type': 'Recoverable', "
                "'name': 'A' }");
        g_autofree char *directory = g_build_filename(stage->state, "kept", NULL), *error = NULL;
        g_autoptr(json_object) values = json_object_new_object();
        const char *const none[] = { NULL };
        g_autoptr(GPtrArray) forgotten = NULL;

        (void) g_mkdir(stage->state, 0700);
        g_assert_true(g_file_set_contents(directory, "", -1, NULL));
        recovery_stage_start(stage, "");
        json_object_object_add(values, "n", json_object_new_int(5));
        g_assert_cmpint(manager_set_variables(stage->manager, "t.1", values, &test_caller, &error), ==, 0);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        assert_kept(stage, "{\"n\":5}");
        recovery_stage_kill(stage);
        assert_kept(stage, "{\"n\":5}");

        g_assert_cmpint(manager_forget_kept(stage->manager, "t", "", none, &test_caller, &forgotten, &error), ==, 0);
        recovery_stage_kill(stage);
        assert_kept(stage, "{}");

        /* The disk takes it again, so nothing waits any more. */
        g_assert_cmpint(g_unlink(directory), ==, 0);
        recovery_stage_start(stage, "");
        g_assert_cmpint(manager_set_variables(stage->manager, "t.17", values, &test_caller, &error), ==, 0);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        recovery_stage_kill(stage);
        {
                g_autoptr(json_object) waiting = boot_file_read(stage->runtime, "kept.unsaved");

                g_assert_cmpint(json_object_object_length(waiting), ==, 0);
        }
        assert_kept(stage, "{\"n\":5}");
}

static void on_waiting_changed(const char *tree, void *userdata) {
        g_string_append_printf(userdata, "%s ", tree);
}

/* There is no room for the run, and then there is. */
static void test_autostart_waits(void) {
        static const ManagerObserver observer = { .waiting_changed = on_waiting_changed };
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *why = NULL, *unknown = NULL, *none = NULL, *known = NULL;
        g_autoptr(GString) told = g_string_new(NULL);
        Limits limits = limits_default;

        recovery_stage_start(stage, "");
        recovery_stage_put(stage, "u.json",
                           "{ 'btd': 1, 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'B' } }");
        recovery_stage_put(stage, "v.json", "{ 'btd': 1, 'autostart': true, 'root'");
        limits.max[LIMIT_RUNS] = 1;
        stage->limits = &limits;
        g_string_truncate(stage->events, 0);
        recovery_stage_kill(stage);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 ");
        manager_observe(stage->manager, &observer, told);
        why = manager_describe_waiting(stage->manager, "u");
        g_assert_cmpstr(why, ==, "autostart waits: the limit 'runs' (1) is reached; halt a run first");
        unknown = manager_describe_waiting(stage->manager, "v");
        g_assert_cmpstr(unknown, ==, "autostart unknown until the file is correct");

        recoverable_end("A", STATUS_SUCCESS);
        while (!runs_get(stage->manager->runs, "u.1"))
                g_main_context_iteration(stage->context, TRUE);
        none = manager_describe_waiting(stage->manager, "u");
        g_assert_null(none);
        g_assert_cmpstr(told->str, ==, "u ");
        recovery_stage_turn(stage);
        recovery_stage_end(stage, "B", STATUS_SUCCESS);

        /* This one was broken when the daemon was started. */
        recovery_stage_put(stage, "v.json",
                           "{ 'btd': 1, 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'C' } }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        while (!runs_get(stage->manager->runs, "v.1"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpstr(stage->events->str, ==, "+t.1 =t.1 +u.1 =u.1 +v.1 ");
        known = manager_describe_waiting(stage->manager, "v");
        g_assert_null(known);
        g_assert_cmpstr(told->str, ==, "u v ");
        manager_unobserve(stage->manager, &observer, told);
}

/* There was no time left to halt it: that is for the next daemon, as if this one had been killed. */
static void test_given_up(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_start(stage, "");
        recoverable_stubborn("A");
        manager_stop(stage->manager);
        recovery_stage_turn(stage);
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_cmpstr(recoverable_events("A"), ==, "start halt abandon ");
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start halt abandon recover halt ");
        recovery_stage_end(stage, "A", STATUS_FAILURE);
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "btd is stopping");
}

/* Who asks in the last moment asks the next one. */
static void test_abandoned(void) {
        static const char text[] = "btd has stopped; the next btd recovers its runs";
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        g_autofree char *run_error = NULL, *tree_error = NULL, *pause_error = NULL;
        g_autoptr(GPtrArray) halted = NULL;
        unsigned cancelled;

        recovery_stage_start(stage, "");
        manager_leave(stage->manager);
        manager_abandon(stage->manager);
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &test_caller, &run_error), ==, MANAGER_STOPPING);
        g_assert_cmpint(manager_halt_tree(stage->manager, &(TreeHalt){ .tree = "t" }, &test_caller, &halted, &cancelled,
                                          &tree_error),
                        ==, MANAGER_STOPPING);
        g_assert_cmpint(manager_pause(stage->manager, "t.1", &test_caller, &pause_error), ==, MANAGER_STOPPING);
        g_assert_cmpstr(run_error, ==, text);
        g_assert_cmpstr(tree_error, ==, text);
        g_assert_cmpstr(pause_error, ==, text);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start abandon ");
}

static void test_on_stop(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new(
                "'on_stop': 'halt', 'autostart': true, 'root': { 'type': 'Recoverable', 'name': 'A' }");

        recovery_stage_put(stage, "u.json", "{ 'btd': 1, 'root': { 'type': 'Recoverable', 'name': 'B' } }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        {
                g_autofree char *error = NULL;
                Run *run;

                g_assert_cmpint(once_reserved(stage->context, &error,
                                              manager_start(stage->manager, "u", "", NULL, "a test", &run, &error)),
                                ==, 0);
        }
        recovery_stage_turn(stage);
        recoverable_stubborn("A");
        manager_leave(stage->manager);
        recovery_stage_turn(stage);
        g_assert_false(stage->idle);
        recovery_stage_end(stage, "A", STATUS_SUCCESS);
        g_assert_true(stage->idle);
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "btd is stopping");
        g_assert_cmpint(run_status(recovery_stage_run(stage, "u.1")), ==, STATUS_RUNNING);

        manager_free(stage->manager);
        timers_free(stage->timers);
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon ");
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("B"), ==, "start abandon recover ");
        g_assert_nonnull(runs_get(stage->manager->runs, "t.17"));
        g_assert_null(runs_get(stage->manager->runs, "t.1"));
}

static void test_another_daemon(void) {
        g_autoptr(RecoveryStage) stage = recovery_stage_new("'root': { 'type': 'Recoverable', 'name': 'A' }");
        const ManagerOptions options = {
                .directories = (const char *const *) stage->trees,
                .tables = recoverable_tables,
                .runtime_directory = stage->runtime,
        };
        g_autoptr(Manager) other = manager_new(stage->context, &stage->services, &options);
        g_autofree char *error = NULL, *expected = NULL;

        recovery_stage_start(stage, "");
        expected = g_strdup_printf("%s is in use by another btd; give this one another --runtime=", stage->runtime);
        g_assert_cmpint(manager_recover(other, &error), ==, -EBUSY);
        g_assert_cmpstr(error, ==, expected);
        g_assert_cmpuint(runs_list(other->runs)->len, ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/recovery-daemon/restarts", test_restarts);
        g_test_add_func("/recovery-daemon/owner-of-restart", test_owner_of_restart);
        g_test_add_func("/recovery-daemon/large-restart", test_large_restart);
        g_test_add_func("/recovery-daemon/cancelled-restart", test_cancelled_restart);
        g_test_add_func("/recovery-daemon/numbers-were-lost", test_numbers_were_lost);
        g_test_add_func("/recovery-daemon/autostart", test_autostart);
        g_test_add_func("/recovery-daemon/autostart-not-noted", test_autostart_not_noted);
        g_test_add_func("/recovery-daemon/given-up", test_given_up);
        g_test_add_func("/recovery-daemon/killed-while-stopping", test_killed_while_stopping);
        g_test_add_func("/recovery-daemon/halted-by-a-user", test_halted_by_a_user);
        g_test_add_func("/recovery-daemon/started-again-by-a-user", test_started_again_by_a_user);
        g_test_add_func("/recovery-daemon/enabled-and-started-by-a-user", test_enabled_and_started_by_a_user);
        g_test_add_func("/recovery-daemon/lost-follower", test_lost_follower);
        g_test_add_func("/recovery-daemon/lost", test_lost);
        g_test_add_func("/recovery-daemon/follower-not-noted", test_follower_not_noted);
        g_test_add_func("/recovery-daemon/cancelled-follower", test_cancelled_follower);
        g_test_add_func("/recovery-daemon/stopped-before-a-follower", test_stopped_before_a_follower);
        g_test_add_func("/recovery-daemon/kept-values-that-wait", test_kept_values_that_wait);
        g_test_add_func("/recovery-daemon/autostart-waits", test_autostart_waits);
        g_test_add_func("/recovery-daemon/abandoned", test_abandoned);
        g_test_add_func("/recovery-daemon/on-stop", test_on_stop);
        g_test_add_func("/recovery-daemon/another-daemon", test_another_daemon);
        return g_test_run();
}
