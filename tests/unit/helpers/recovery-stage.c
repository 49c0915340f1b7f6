/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "recovery-stage.h"

#include <glib/gstdio.h>

#include "record/run-record.h"
#include "recoverable-leaves.h"
#include "remove-all.h"
#include "run/run.h"

/* Nobody hears of a run that would not be there after a crash. */
static void assert_written(const RecoveryStage *stage, const Run *run) {
        g_autofree char *path = g_strdup_printf("%s/runs/%s.journal", stage->runtime, run_id(run)), *error = NULL;
        g_autoptr(RunRecord) record = NULL;

        g_assert_cmpint(run_record_read_file(path, true, UINT64_MAX, &record, &error), ==, 0);
}

static void on_run_added(Run *run, void *userdata) {
        const RecoveryStage *stage = userdata;

        if (run_is_durable(run) && run_status(run) == STATUS_RUNNING)
                assert_written(stage, run);
        g_string_append_printf(stage->events, "+%s ", run_id(run));
}

static void on_run_finished(Run *run, void *userdata) {
        g_string_append_printf(((RecoveryStage *) userdata)->events, "=%s ", run_id(run));
}

static void on_run_state_changed(Run *run, void *userdata) {
        g_string_append_printf(((RecoveryStage *) userdata)->events, "~%s ", run_id(run));
}

static void on_run_ready(Run *run, void *userdata) {
        g_string_append_printf(((RecoveryStage *) userdata)->events, "ready %s ", run_id(run));
}

static void on_idle(void *userdata) {
        ((RecoveryStage *) userdata)->idle = true;
}

static void on_autostarted(void *userdata) {
        ((RecoveryStage *) userdata)->autostarted = true;
}

static const ManagerObserver observer = {
        .autostarted = on_autostarted,
        .run_added = on_run_added,
        .run_state_changed = on_run_state_changed,
        .run_ready = on_run_ready,
        .run_finished = on_run_finished,
        .idle = on_idle,
};

void recovery_stage_put(const RecoveryStage *stage, const char *file, const char *text) {
        g_autofree char *path = g_build_filename(stage->trees[0], file, NULL);
        g_autofree char *json = g_strdelimit(g_strdup(text), "'", '"');

        g_assert_true(g_file_set_contents(path, json, -1, NULL));
}

void recovery_stage_begin(RecoveryStage *stage) {
        const ManagerOptions options = {
                .directories = (const char *const *) stage->trees,
                .tables = recoverable_tables,
                .runtime_directory = stage->runtime,
                .state_directory = stage->state,
                .limits = stage->limits,
        };
        g_autofree char *error = NULL;

        stage->timers = timers_new(stage->context);
        stage->services = (LeafServices){ .kind_of = recoverable_kind_of,
                                          .timers = stage->timers,
                                          .inhibitors = stage->inhibitors,
                                          .credentials = stage->credentials };
        stage->manager = manager_new(stage->context, &stage->services, &options);
        manager_observe(stage->manager, &observer, stage);
        manager_load(stage->manager);
        g_assert_cmpint(manager_recover(stage->manager, &error), ==, 0);
        g_assert_cmpstr(error, ==, NULL);
        stage->autostarted = false;
        manager_autostart(stage->manager);
        while (!stage->autostarted)
                g_main_context_iteration(stage->context, TRUE);
}

void recovery_stage_turn(const RecoveryStage *stage) {
        while (g_main_context_iteration(stage->context, FALSE))
                ;
}

void recovery_stage_end(const RecoveryStage *stage, const char *name, Status status) {
        recoverable_end(name, status);
        recovery_stage_turn(stage);
}

void recovery_stage_kill(RecoveryStage *stage) {
        manager_leave(stage->manager);
        manager_free(stage->manager);
        timers_free(stage->timers);
        recovery_stage_begin(stage);
        recovery_stage_turn(stage);
}

RecoveryStage *recovery_stage_new(const char *root) {
        RecoveryStage *stage = g_new0(RecoveryStage, 1);
        g_autofree char *text = g_strdup_printf("{ 'btd': 1, 'blackboard': { 'a': 0, 'quick': 0 }, %s }", root);

        stage->context = g_main_context_new();
        stage->top = g_dir_make_tmp("btd-recovery-XXXXXX", NULL);
        stage->trees[0] = g_build_filename(stage->top, "trees", NULL);
        stage->runtime = g_build_filename(stage->top, "run", NULL);
        stage->state = g_build_filename(stage->top, "state", NULL);
        stage->credentials = g_build_filename(stage->top, "credentials", NULL);
        stage->events = g_string_new(NULL);
        g_assert_cmpint(g_mkdir(stage->trees[0], 0700), ==, 0);
        g_assert_cmpint(g_mkdir(stage->credentials, 0700), ==, 0);
        recovery_stage_put(stage, "t.json", text);
        recovery_stage_begin(stage);
        return stage;
}

void recovery_stage_free(RecoveryStage *stage) {
        manager_free(stage->manager);
        timers_free(stage->timers);
        g_main_context_unref(stage->context);
        remove_all(stage->top);
        g_string_free(stage->events, TRUE);
        g_free(stage->top);
        g_free(stage->trees[0]);
        g_free(stage->runtime);
        g_free(stage->state);
        g_free(stage->credentials);
        g_free(stage);
        recoverable_reset();
}

Run *recovery_stage_start(RecoveryStage *stage, const char *instance) {
        g_autofree char *error = NULL;
        Run *run = NULL;

        once_reserved(stage->context, &error,
                      manager_start(stage->manager, "t", instance, NULL, "a test", &run, &error));
        g_assert_cmpstr(error, ==, NULL);
        recovery_stage_turn(stage);
        return run;
}

Run *recovery_stage_run(RecoveryStage *stage, const char *id) {
        Run *run = runs_get(stage->manager->runs, id);

        g_assert_nonnull(run);
        return run;
}

void recovery_stage_assert_finished(RecoveryStage *stage, const char *id, Status status, const char *cause) {
        const Run *run = recovery_stage_run(stage, id);

        g_assert_cmpstr(status_to_string(run_status(run)), ==, status_to_string(status));
        g_assert_cmpstr(run_cause(run), ==, cause);
}

bool is_there(const char *directory, const char *file) {
        g_autofree char *path = g_build_filename(directory, file, NULL);

        return g_file_test(path, G_FILE_TEST_EXISTS);
}

char *recovery_stage_record(const RecoveryStage *stage, const char *run) {
        g_autofree char *file = g_strconcat(run, ".journal", NULL);

        return g_build_filename(stage->runtime, "runs", file, NULL);
}
