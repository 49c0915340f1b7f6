/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl monitor: prints the events of all runs, until it is interrupted or btd stays away. */

#include <signal.h>

#include "client/bus/follower.h"
#include "client/bus/run-info.h"
#include "client/bus/watch.h"
#include "client/verbs/verbs.h"
#include "client/view/style.h"

typedef struct Monitor {
        Client *client;
        Watch *watch;
        Follower *follower;
} Monitor;

static void monitor_clear(Monitor *monitor) {
        g_clear_pointer(&monitor->watch, watch_free);
        g_clear_pointer(&monitor->follower, follower_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Monitor, monitor_clear)

/* There is nothing left to do if nobody reads the events. */
static void end_if_unread(const Monitor *monitor) {
        if (output_is_lost())
                watch_end(monitor->watch, EXIT_SUCCESS);
}

static void on_run_new(const char *id, const char *path, void *userdata) {
        const Monitor *monitor = userdata;

        follower_add(monitor->follower, id);
}

static void on_run_finished(const char *id, const char *status, const char *cause, void *userdata) {
        const Monitor *monitor = userdata;

        (void) follower_finish(monitor->follower, id);
        end_if_unread(monitor);
}

static void on_events(sd_bus_message *signal, void *userdata) {
        const Monitor *monitor = userdata;

        follower_handle(monitor->follower, signal);
        end_if_unread(monitor);
}

static void on_reloaded(char **errors, void *userdata) {
        g_autoptr(GDateTime) now = g_date_time_new_now_local();
        g_autofree char *seconds = g_date_time_format(now, "%H:%M:%S"),
                        *stamp = g_strdup_printf("%s.%03d", seconds, g_date_time_get_microsecond(now) / 1000);
        Monitor *monitor = userdata;

        event_print_reloaded(&monitor->client->output, stamp, errors);
        end_if_unread(monitor);
}

/* Runs that have started while btd was away are followed from their first event on. */
static int add_runs(const Monitor *monitor, bool from_now) {
        g_autoptr(GPtrArray) runs = NULL;
        int status = run_info_list(monitor->client, &runs);

        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (from_now)
                        follower_add_from_now(monitor->follower, run);
                else
                        follower_add(monitor->follower, run->id);
        }

        return status;
}

/* btd may be a new one, and signals may have been missed. If it has exited again, it comes back once more. */
static void on_back(const char *how, void *userdata) {
        Monitor *monitor = userdata;
        int status;

        status = follower_subscribe(monitor->follower);
        if (status == EXIT_SUCCESS)
                status = add_runs(monitor, false);
        if (status != EXIT_SUCCESS && status != EXIT_NO_DAEMON)
                watch_end(monitor->watch, status);
        if (status != EXIT_SUCCESS)
                return;

        if (!monitor->client->output.quiet)
                report_error("%s", how);
        follower_catch_up_all(monitor->follower);
        end_if_unread(monitor);
}

int verb_monitor(Client *client, char **operands) {
        static const WatchCallbacks callbacks = {
                .run_new = on_run_new,
                .run_finished = on_run_finished,
                .events = on_events,
                .reloaded = on_reloaded,
                .back = on_back,
        };
        g_auto(Monitor) monitor = {
                .client = client,
                .follower = follower_new(client, true),
        };
        int status;

        status = watch_new(client, &callbacks, &monitor, &monitor.watch);
        if (status == EXIT_SUCCESS)
                status = follower_subscribe(monitor.follower);
        if (status == EXIT_SUCCESS)
                status = add_runs(&monitor, true);
        if (status != EXIT_SUCCESS)
                return status;

        watch_wait_for_restart(monitor.watch, true, false);
        status = watch_wait(monitor.watch);
        /* Ctrl-C is the normal way to end it. */
        return status == EXIT_SIGNAL + SIGINT ? EXIT_SUCCESS : status;
}
