/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "manager-stage.h"

#include <glib/gstdio.h>

ManagerStage *manager_stage_new(void) {
        ManagerStage *stage = g_new0(ManagerStage, 1);

        stage->context = g_main_context_new();
        stage->timers = timers_new(stage->context);
        stage->services = (LeafServices){ .kind_of = fake_kind_of, .timers = stage->timers };
        stage->directories[0] = g_dir_make_tmp("btd-test-XXXXXX", NULL);
        stage->events = g_string_new(NULL);
        return stage;
}

static void remove_directory(const char *directory) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
        const char *name;

        while ((name = g_dir_read_name(dir))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                if (g_remove(path) < 0)
                        remove_directory(path);
        }

        g_remove(directory);
}

void manager_stage_free(ManagerStage *stage) {
        manager_free(stage->manager);
        json_object_put(stage->on_finished);
        timers_free(stage->timers);
        g_main_context_unref(stage->context);
        remove_directory(stage->directories[0]);
        if (stage->state)
                remove_directory(stage->state);
        if (stage->runtime)
                remove_directory(stage->runtime);
        g_free(stage->directories[0]);
        g_free(stage->state);
        g_free(stage->runtime);
        g_string_free(stage->events, TRUE);
        g_free(stage);
        fake_reset();
}

void manager_stage_keep_state(ManagerStage *stage) {
        stage->state = g_dir_make_tmp("btd-test-XXXXXX", NULL);
}

void manager_stage_keep_runs(ManagerStage *stage) {
        stage->runtime = g_dir_make_tmp("btd-test-XXXXXX", NULL);
}

void manager_stage_open(ManagerStage *stage, const Limits *limits, const ManagerObserver *observer) {
        ManagerOptions options = {
                .directories = (const char *const *) stage->directories,
                .tables = fake_tables,
                .state_directory = stage->state,
                .runtime_directory = stage->runtime,
                .limits = limits,
                .on_finished = stage->on_finished,
        };

        manager_free(stage->manager);
        stage->manager = manager_new(stage->context, &stage->services, &options);
        if (observer)
                manager_observe(stage->manager, observer, stage);
}

void manager_stage_put(const ManagerStage *stage, const char *file, const char *text) {
        g_autofree char *path = g_build_filename(stage->directories[0], file, NULL);

        g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

void manager_stage_remove(const ManagerStage *stage, const char *file) {
        g_autofree char *path = g_build_filename(stage->directories[0], file, NULL);

        g_assert_cmpint(g_remove(path), ==, 0);
}

void manager_stage_turn(const ManagerStage *stage) {
        while (g_main_context_iteration(stage->context, FALSE))
                ;
}
