/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the runs that btd lists, for all verbs that show or find runs. */

#include "client/bus/run-info.h"
#include "basic/cleanup.h"

void run_info_free(RunInfo *run) {
        if (!run)
                return;

        g_free(run->id);
        g_free(run->path);
        g_free(run->tree);
        g_free(run->instance);
        g_free(run->status);
        g_free(run->cause);
        g_free(run->restart);
        g_free(run->not_durable);
        g_free(run);
}

/* The strings belong to the message until they are copied. */
static RunInfo *copy(const RunInfo *run) {
        RunInfo *own = g_new(RunInfo, 1);

        *own = *run;
        own->id = g_strdup(run->id);
        own->path = g_strdup(run->path);
        own->tree = g_strdup(run->tree);
        own->instance = g_strdup(run->instance);
        own->status = g_strdup(run->status);
        own->cause = g_strdup(run->cause);
        own->restart = g_strdup(run->restart);
        return own;
}

/* Returns 1 for a run, 0 at the end. */
static int read_run(sd_bus_message *message, RunInfo **ret_run) {
        RunInfo run = { 0 };
        int r = sd_bus_message_read(message, "(sosssttsst)", &run.id, &run.path, &run.tree, &run.instance, &run.status,
                                    &run.started, &run.finished, &run.cause, &run.restart, &run.ready);

        if (r > 0)
                *ret_run = copy(&run);
        return r;
}

static int read_past_run(sd_bus_message *message, RunInfo **ret_run) {
        RunInfo run = { .restart = (char *) "", .ready = UINT64_MAX };
        int r = sd_bus_message_read(message, "(sssstts)", &run.id, &run.tree, &run.instance, &run.status, &run.started,
                                    &run.finished, &run.cause);

        if (r > 0)
                *ret_run = copy(&run);
        return r;
}

static int read_runs(sd_bus_message *message, const char *type, int (*read)(sd_bus_message *, RunInfo **),
                     GPtrArray **ret_runs) {
        g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify) run_info_free);
        RunInfo *run;
        int r;

        r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, type);
        if (r < 0)
                return client_bad_message(r);

        while ((r = read(message, &run)) > 0)
                g_ptr_array_add(runs, run);
        if (r < 0)
                return client_bad_message(r);

        *ret_runs = g_steal_pointer(&runs);
        return EXIT_SUCCESS;
}

static gint compare_started(gconstpointer a, gconstpointer b) {
        const RunInfo *first = *(const RunInfo *const *) a, *second = *(const RunInfo *const *) b;

        return (first->started > second->started) - (first->started < second->started);
}

int run_info_list(Client *client, GPtrArray **ret_runs) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "ListRuns", NULL);
        if (status == EXIT_SUCCESS)
                status = read_runs(reply, "(sosssttsst)", read_run, ret_runs);
        if (status == EXIT_SUCCESS)
                g_ptr_array_sort(*ret_runs, compare_started);

        return status;
}

int run_info_list_past(Client *client, const char *tree, GPtrArray **ret_runs) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "ListHistory", "s", tree);
        return status != EXIT_SUCCESS ? status : read_runs(reply, "(sssstts)", read_past_run, ret_runs);
}

static int get_tree_changed(Client *client, RunInfo *run) {
        g_autoptr(sd_bus_message) reply = NULL;
        int changed, status, r;

        status = client_get(client, run->path, BTD_RUN, "TreeChanged", "b", &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = sd_bus_message_read(reply, "b", &changed);
        if (r < 0)
                return client_bad_message(r);

        run->tree_changed = changed;
        return EXIT_SUCCESS;
}

int run_info_complete(Client *client, RunInfo *run) {
        int status = get_tree_changed(client, run);

        if (status != EXIT_SUCCESS)
                return status;

        g_clear_pointer(&run->not_durable, g_free);
        return client_get_string(client, run->path, BTD_RUN, "NotDurable", &run->not_durable);
}

bool run_info_has_finished(const RunInfo *run) {
        return run->finished > 0;
}

uint64_t run_info_duration(const RunInfo *run) {
        uint64_t now = run->as_of > 0 ? run->as_of : (uint64_t) g_get_real_time(),
                 end = run_info_has_finished(run) ? run->finished : now;

        return end > run->started ? end - run->started : 0;
}

char *run_info_title(const RunInfo *run) {
        if (*run->instance)
                return g_strdup_printf("%s (%s)", run->id, run->instance);

        return g_strdup(run->id);
}

json_object *run_info_to_json(const RunInfo *run) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "id", json_object_new_string(run->id));
        json_object_object_add(json, "tree", json_object_new_string(run->tree));
        json_object_object_add(json, "instance", json_object_new_string(run->instance));
        json_object_object_add(json, "status", json_object_new_string(run->status));
        json_object_object_add(json, "started_usec", json_object_new_uint64(run->started));
        if (run->ready != UINT64_MAX)
                json_object_object_add(json, "ready_usec", json_object_new_uint64(run->ready));
        json_object_object_add(json, "finished_usec", json_object_new_uint64(run->finished));
        json_object_object_add(json, "cause", json_object_new_string(run->cause));
        json_object_object_add(json, "restart", json_object_new_string(run->restart));
        if (run->not_durable) {
                json_object_object_add(json, "not_durable", json_object_new_string(run->not_durable));
                json_object_object_add(json, "tree_changed", json_object_new_boolean(run->tree_changed));
        }

        return json;
}

json_object *run_info_list_to_json(const GPtrArray *runs) {
        json_object *json = json_object_new_array();

        for (guint i = 0; i < runs->len; i++)
                json_object_array_add(json, run_info_to_json(g_ptr_array_index(runs, i)));

        return json;
}
