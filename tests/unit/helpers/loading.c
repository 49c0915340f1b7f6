/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs the main loop until the manager has finished a reload or the start of a text. */

#include "loading.h"

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        *(GPtrArray **) userdata = g_ptr_array_copy((GPtrArray *) messages, (GCopyFunc) (void *) g_strdup, NULL);
}

GPtrArray *loading_reload(Manager *manager, GMainContext *context) {
        GPtrArray *copy = NULL;

        (void) manager_reload(manager, on_reloaded, &copy);
        while (!copy)
                g_main_context_iteration(context, TRUE);

        g_ptr_array_set_free_func(copy, g_free);
        return copy;
}

typedef struct Started {
        Manager *manager;
        bool done;
        Run *run;
        int r;
        char *error;
} Started;

static void on_started(const RunSummary *outcome, bool begun, int r, const char *error, void *userdata) {
        Started *started = userdata;

        started->done = true;
        started->run = outcome ? runs_get(started->manager->runs, outcome->run) : NULL;
        started->r = r;
        started->error = g_strdup(error);
}

int loading_start_text(Manager *manager, GMainContext *context, const char *name, const char *text, const Caller *who,
                       Run **ret_run, char **ret_error) {
        const TreeStart wanted = { .tree = name };
        Started started = { .manager = manager };
        TextStart *start;
        int r = manager_start_text(manager, &wanted, text, who, on_started, &started, &start, ret_error);

        if (r < 0)
                return r;

        while (!started.done)
                g_main_context_iteration(context, TRUE);
        *ret_run = started.run;
        *ret_error = started.error;
        return started.r;
}
