/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the runs that btd lists, for all verbs that show or find runs. */

#include "client/bus/run-info.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"

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
        json_object_put(run->outputs);
        g_free(run);
}

/* past: a run of the history. Returns 1 for a run, 0 at the end. */
static int read_run(sd_bus_message *message, bool past, RunInfo **ret_run) {
        char *none = (char *) "";
        RunInfo run = {
                .id = none,
                .path = past ? NULL : none,
                .tree = none,
                .instance = none,
                .status = none,
                .cause = none,
                .restart = none,
                .ready = past ? UINT64_MAX : 0,
        };
        const RecordField fields[] = {
                { "id", "s", &run.id },
                { "path", "o", &run.path },
                { "tree", "s", &run.tree },
                { "instance", "s", &run.instance },
                { "status", "s", &run.status },
                { "started", "t", &run.started },
                { "ready", "t", &run.ready },
                { "finished", "t", &run.finished },
                { "cause", "s", &run.cause },
                { "restart", "s", &run.restart },
                {},
        };
        int r = client_read_record(message, fields);

        if (r <= 0)
                return r;

        /* The strings belong to the message until they are copied. */
        *ret_run = g_new(RunInfo, 1);
        **ret_run = run;
        (*ret_run)->id = g_strdup(run.id);
        (*ret_run)->path = g_strdup(run.path);
        (*ret_run)->tree = g_strdup(run.tree);
        (*ret_run)->instance = g_strdup(run.instance);
        (*ret_run)->status = g_strdup(run.status);
        (*ret_run)->cause = g_strdup(run.cause);
        (*ret_run)->restart = g_strdup(run.restart);
        return 1;
}

static int read_runs(sd_bus_message *message, bool past, GPtrArray **ret_runs) {
        g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify) run_info_free);
        RunInfo *run;
        int r;

        r = sd_bus_message_enter_container(message, SD_BUS_TYPE_ARRAY, "a{sv}");
        if (r < 0)
                return client_bad_message(r);

        while ((r = read_run(message, past, &run)) > 0)
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
                status = read_runs(reply, false, ret_runs);
        if (status == EXIT_SUCCESS)
                g_ptr_array_sort(*ret_runs, compare_started);

        return status;
}

int run_info_list_past(Client *client, const char *tree, GPtrArray **ret_runs) {
        g_autoptr(sd_bus_message) reply = NULL;
        int status;

        status = client_call(client, &reply, BTD_PATH, BTD_MANAGER, "ListHistory", "a{sv}", tree ? 1 : 0, "tree", "s",
                             tree);
        return status != EXIT_SUCCESS ? status : read_runs(reply, true, ret_runs);
}

int run_info_get_outcome(const Client *client, const char *tree, const char *instance, const char *token,
                         sd_bus_error *error, sd_bus_message **ret_reply, RunOutcome *ret_outcome) {
        RunOutcome outcome = { .id = "", .path = "", .status = "", .cause = "" };
        const RecordField fields[] = {
                { "id", "s", &outcome.id },
                { "path", "o", &outcome.path },
                { "status", "s", &outcome.status },
                { "finished", "t", &outcome.finished },
                { "cause", "s", &outcome.cause },
                { "restarting", "b", &outcome.restarting },
                {},
        };
        int r;

        r = client_try(client, error, ret_reply, "GetOutcome", "ssa{sv}", tree, token, 1, "instance", "s", instance);
        if (r >= 0)
                r = client_read_record(*ret_reply, fields);
        if (r >= 0)
                *ret_outcome = outcome;
        return r;
}

json_object *run_info_get_outputs(const Client *client, const char *id) {
        g_autoptr(json_object) outcome = NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *error = NULL;
        json_object *outputs = NULL;

        if (client->bus && client_try(client, NULL, &reply, "WaitRun", "sa{sv}", id, 0) >= 0 &&
            value_read_variable(reply, NULL, &outcome, &error) >= 0)
                json_object_object_get_ex(outcome, "outputs", &outputs);
        return json_object_get(outputs);
}

static int get_counts(Client *client, RunInfo *run) {
        const struct {
                const char *property;
                uint64_t *ret_count;
        } rows[] = {
                { "Ticks", &run->counts.ticks },
                { "Changes", &run->counts.inputs },
                { "ActionStarts", &run->counts.action_starts },
                { "ActionRestarts", &run->counts.action_restarts },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(sd_bus_message) reply = NULL;
                int status = client_get(client, run->path, BTD_RUN, rows[i].property, "t", &reply), r;

                if (status != EXIT_SUCCESS)
                        return status;
                r = sd_bus_message_read(reply, "t", rows[i].ret_count);
                if (r < 0)
                        return client_bad_message(r);
        }

        run->is_counted = true;
        return EXIT_SUCCESS;
}

int run_info_complete(Client *client, RunInfo *run) {
        g_autoptr(sd_bus_message) reply = NULL;
        int changed, r, status = client_get(client, run->path, BTD_RUN, "TreeChanged", "b", &reply);

        if (status != EXIT_SUCCESS)
                return status;
        r = sd_bus_message_read(reply, "b", &changed);
        if (r < 0)
                return client_bad_message(r);
        run->tree_changed = changed;

        status = get_counts(client, run);
        if (status != EXIT_SUCCESS)
                return status;

        g_clear_pointer(&run->outputs, json_object_put);
        if (run_info_has_finished(run))
                run->outputs = run_info_get_outputs(client, run->id);
        g_clear_pointer(&run->not_durable, g_free);
        return client_get_string(client, run->path, BTD_RUN, "NotDurableReason", &run->not_durable);
}

bool run_info_has_finished(const RunInfo *run) {
        return run->finished > 0;
}

uint64_t run_info_duration(const RunInfo *run) {
        uint64_t now = run->as_of > 0 ? run->as_of : (uint64_t) g_get_real_time(),
                 end = run_info_has_finished(run) ? run->finished : now;

        return end > run->started ? end - run->started : 0;
}

uint64_t run_info_get_duration(const Client *client, const char *id, uint64_t otherwise) {
        uint64_t started = 0, finished = 0;
        g_autofree char *path = NULL;

        if (sd_bus_path_encode(BTD_PATH "/run", id, &path) < 0 ||
            client_try_get(client, path, "Started", 't', &started) < 0 ||
            client_try_get(client, path, "Finished", 't', &finished) < 0 || finished == 0)
                return otherwise;

        return finished > started ? finished - started : 0;
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
        if (run->outputs)
                json_object_object_add(json, "outputs", json_object_get(run->outputs));
        if (run->is_counted) {
                json_object_object_add(json, "ticks", json_object_new_uint64(run->counts.ticks));
                json_object_object_add(json, "changes", json_object_new_uint64(run->counts.inputs));
                json_object_object_add(json, "action_starts", json_object_new_uint64(run->counts.action_starts));
                json_object_object_add(json, "action_restarts", json_object_new_uint64(run->counts.action_restarts));
        }
        if (run->not_durable) {
                json_object_object_add(json, "not_durable", json_object_new_string(run->not_durable));
                json_object_object_add(json, "tree_changed", json_object_new_boolean(run->tree_changed));
        }

        return json;
}
