/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl monitor: prints the events of all runs, until it is interrupted or btd stays away. */

#include <signal.h>

#include "client/bus/run-info.h"
#include "client/bus/watch.h"
#include "client/verbs/verbs.h"
#include "client/view/event.h"

typedef struct Monitor {
        Client *client;
        Watch *watch;
        GHashTable *runs; /* id -> GPtrArray of NodeInfo: the known nodes */
} Monitor;

static void monitor_clear(Monitor *monitor) {
        g_clear_pointer(&monitor->watch, watch_free);
        g_clear_pointer(&monitor->runs, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Monitor, monitor_clear)

static char *time_stamp(void) {
        g_autoptr(GDateTime) now = g_date_time_new_now_local();
        g_autofree char *seconds = g_date_time_format(now, "%H:%M:%S");

        return g_strdup_printf("%s.%03d", seconds, g_date_time_get_microsecond(now) / 1000);
}

static GPtrArray *known_nodes(Monitor *monitor, const char *id) {
        GPtrArray *nodes = g_hash_table_lookup(monitor->runs, id);

        if (!nodes) {
                nodes = node_info_array_new();
                g_hash_table_insert(monitor->runs, g_strdup(id), nodes);
        }

        return nodes;
}

/* There is nothing left to do if nobody reads the events. */
static void end_if_unread(const Monitor *monitor) {
        if (output_is_closed())
                watch_end(monitor->watch, EXIT_SUCCESS);
}

static void on_run_new(const char *id, const char *path, void *userdata) {
        g_autofree char *stamp = time_stamp();
        Monitor *monitor = userdata;

        event_print_started(&monitor->client->output, stamp, id);
        end_if_unread(monitor);
}

static void on_run_ready(const char *id, void *userdata) {
        g_autofree char *stamp = time_stamp();
        const Monitor *monitor = userdata;

        event_print_ready(&monitor->client->output, stamp, id);
        end_if_unread(monitor);
}

/* As long as its root, if that is known; else 0. */
static uint64_t duration_of(const Monitor *monitor, const char *id) {
        const GPtrArray *nodes = g_hash_table_lookup(monitor->runs, id);
        const NodeInfo *root = nodes && nodes->len > 0 ? g_ptr_array_index(nodes, 0) : NULL;

        return root ? root->duration : 0;
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        g_autofree char *stamp = time_stamp();
        Monitor *monitor = userdata;

        event_print_finished(&monitor->client->output, stamp, id, status, duration_of(monitor, id), cause);
        end_if_unread(monitor);
        g_hash_table_remove(monitor->runs, id);
}

static void on_nodes_changed(const char *run_path, GPtrArray *nodes, void *userdata) {
        g_autofree char *id = NULL, *stamp = NULL, *time = time_stamp();
        Monitor *monitor = userdata;
        GPtrArray *known;

        if (sd_bus_path_decode(run_path, BTD_PATH "/run", &id) <= 0)
                return;

        stamp = g_strdup_printf("%s %s", time, id);
        known = known_nodes(monitor, id);
        node_info_merge(known, nodes);
        event_print_nodes(monitor->client, stamp, id, run_path, nodes, known);
        end_if_unread(monitor);
}

static void on_reloaded(char **errors, void *userdata) {
        g_autofree char *stamp = time_stamp();
        Monitor *monitor = userdata;

        event_print_reloaded(&monitor->client->output, stamp, errors);
        end_if_unread(monitor);
}

/* Gets the nodes of runs that are already running, because signals have only the changed nodes. */
static int get_runs(Monitor *monitor) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list(monitor->client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);
                GPtrArray *nodes;

                if (run_info_has_finished(run))
                        continue;
                status = node_info_of_run(monitor->client, run->path, &nodes);
                if (status != EXIT_SUCCESS)
                        return status;
                g_hash_table_insert(monitor->runs, g_strdup(run->id), nodes);
        }

        return EXIT_SUCCESS;
}

/* btd may be a new one, and signals may have been missed. If it has exited again, it comes back once more. */
static void on_back(const char *how, void *userdata) {
        Monitor *monitor = userdata;
        int status;

        g_hash_table_remove_all(monitor->runs);
        status = client_call(monitor->client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        if (status == EXIT_SUCCESS)
                status = get_runs(monitor);
        if (status != EXIT_SUCCESS && status != EXIT_NO_DAEMON)
                watch_end(monitor->watch, status);
        else if (status == EXIT_SUCCESS && !monitor->client->output.quiet)
                report_error("%s; events may be missing here", how);
}

int verb_monitor(Client *client, char **operands) {
        static const WatchCallbacks callbacks = {
                .run_new = on_run_new,
                .run_ready = on_run_ready,
                .run_finished = on_run_finished,
                .nodes_changed = on_nodes_changed,
                .reloaded = on_reloaded,
                .back = on_back,
        };
        g_auto(Monitor) monitor = {
                .client = client,
                .runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref),
        };
        int status;

        status = watch_new(client, &callbacks, &monitor, &monitor.watch);
        if (status == EXIT_SUCCESS)
                status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        if (status == EXIT_SUCCESS)
                status = get_runs(&monitor);
        if (status != EXIT_SUCCESS)
                return status;

        watch_wait_for_restart(monitor.watch, true, false);
        status = watch_wait(monitor.watch);
        /* Ctrl-C is the normal way to end it. */
        return status == EXIT_SIGNAL + SIGINT ? EXIT_SUCCESS : status;
}
