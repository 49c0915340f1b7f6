/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An sd-event loop with the bus, the matches for btd's signals, and SIGINT and SIGTERM. */

#include <signal.h>
#include <systemd/sd-event.h>

#include "node-info.h"
#include "watch.h"

/* A service manager starts it at once; an upgrade may take longer. */
#define ABSENCE_MAX (30 * UINT64_C(1000000))

struct Watch {
        Client *client;
        WatchCallbacks callbacks;
        void *userdata;
        bool outlasts;
        sd_event_source *absence; /* btd has gone: how long it is waited for */
        sd_event *event;
        GPtrArray *matches; /* sd_bus_slot * */
        sigset_t old_mask;
};

void watch_end(Watch *watch, int status) {
        sd_event_exit(watch->event, status);
}

static int on_run_new(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;
        const char *id, *path;

        if (sd_bus_message_read(message, "so", &id, &path) >= 0)
                watch->callbacks.run_new(id, path, watch->userdata);

        return 0;
}

static int on_run_finished(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;
        const char *id, *path, *status, *cause;

        if (sd_bus_message_read(message, "soss", &id, &path, &status, &cause) >= 0)
                watch->callbacks.run_finished(id, status, cause, watch->userdata);

        return 0;
}

static int on_nodes_changed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_autoptr(GPtrArray) nodes = NULL;
        Watch *watch = userdata;

        if (node_info_of_signal(message, &nodes) == EXIT_SUCCESS)
                watch->callbacks.nodes_changed(sd_bus_message_get_path(message), nodes, watch->userdata);

        return 0;
}

static int on_reloaded(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_auto(GStrv) errors = NULL;
        Watch *watch = userdata;

        if (client_read_strings(message, &errors) == EXIT_SUCCESS)
                watch->callbacks.reloaded(errors, watch->userdata);

        return 0;
}

static int on_absent(sd_event_source *source, uint64_t usec, void *userdata) {
        Watch *watch = userdata;

        watch_end(watch, client_lost_daemon(watch->client));
        return 0;
}

static void wait_for_next(Watch *watch) {
        if (sd_event_add_time_relative(watch->event, &watch->absence, CLOCK_MONOTONIC, ABSENCE_MAX, 0, on_absent,
                                       watch) < 0)
                watch_end(watch, client_lost_daemon(watch->client));
        else if (!watch->client->output.quiet)
                report_error("btd has gone away; waiting for it to come back");
}

static int on_owner_changed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *name, *old_owner, *new_owner;
        Watch *watch = userdata;

        if (sd_bus_message_read(message, "sss", &name, &old_owner, &new_owner) < 0)
                return 0;

        if (*old_owner && !watch->outlasts)
                watch_end(watch, client_lost_daemon(watch->client));
        else if (*old_owner && !*new_owner)
                wait_for_next(watch);
        else if (watch->absence || *old_owner) {
                watch->absence = sd_event_source_disable_unref(watch->absence);
                watch->callbacks.back(watch->userdata);
        }

        return 0;
}

void watch_outlast(Watch *watch) {
        watch->outlasts = true;
}

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;

        watch_end(watch, client_lost_daemon(watch->client));
        return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        watch_end(userdata, EXIT_SIGNAL + info->ssi_signo);
        return 0;
}

static int match(Watch *watch, const char *rule, sd_bus_message_handler_t callback) {
        sd_bus_slot *slot;
        int r;

        r = sd_bus_add_match(watch->client->bus, &slot, rule, callback, watch);
        if (r < 0)
                return r;

        g_ptr_array_add(watch->matches, slot);
        return 0;
}

#define RULE(sender, interface, member)                                                                                \
        "type='signal',sender='" sender "',interface='" interface "',member='" member "'"

static int match_all(Watch *watch) {
        const struct {
                bool wanted;
                const char *rule;
                sd_bus_message_handler_t callback;
        } matches[] = {
                { watch->callbacks.run_new, RULE(BTD_NAME, BTD_MANAGER, "RunNew"), on_run_new },
                { watch->callbacks.run_finished, RULE(BTD_NAME, BTD_MANAGER, "RunFinished"), on_run_finished },
                { watch->callbacks.nodes_changed, RULE(BTD_NAME, BTD_RUN, "NodesChanged"), on_nodes_changed },
                { watch->callbacks.reloaded, RULE(BTD_NAME, BTD_MANAGER, "Reloaded"), on_reloaded },
                { true, RULE("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged") ",arg0='" BTD_NAME "'",
                  on_owner_changed },
                { true, RULE("org.freedesktop.DBus.Local", "org.freedesktop.DBus.Local", "Disconnected"),
                  on_disconnected },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(matches); i++) {
                int r;

                if (!matches[i].wanted)
                        continue;
                r = match(watch, matches[i].rule, matches[i].callback);
                if (r < 0)
                        return r;
        }

        return 0;
}

/* Blocked until they are waited for, so that a Ctrl-C during a call is seen after it. */
static int watch_signals(Watch *watch) {
        static const int signals[] = { SIGINT, SIGTERM };
        sigset_t mask;
        int r;

        sigemptyset(&mask);
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                sigaddset(&mask, signals[i]);
        sigprocmask(SIG_BLOCK, &mask, &watch->old_mask);

        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
                r = sd_event_add_signal(watch->event, NULL, signals[i], on_signal, watch);
                if (r < 0)
                        return r;
        }

        return 0;
}

static int watch_setup(Watch *watch) {
        int r;

        r = sd_event_new(&watch->event);
        if (r < 0)
                return r;

        r = watch_signals(watch);
        if (r < 0)
                return r;

        r = sd_bus_attach_event(watch->client->bus, watch->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        return match_all(watch);
}

static void free_slot(void *slot) {
        sd_bus_slot_unref(slot);
}

int watch_new(Client *client, const WatchCallbacks *callbacks, void *userdata, Watch **ret_watch) {
        g_autoptr(Watch) watch = NULL;
        int status, r;

        status = client_connect(client);
        if (status != EXIT_SUCCESS)
                return status;

        watch = g_new(Watch, 1);
        *watch = (Watch){
                .client = client,
                .callbacks = *callbacks,
                .userdata = userdata,
                .matches = g_ptr_array_new_with_free_func(free_slot),
        };
        sigprocmask(SIG_SETMASK, NULL, &watch->old_mask);

        r = watch_setup(watch);
        if (r < 0)
                return report_error("cannot watch btd: %s", g_strerror(-r));

        if (callbacks->nodes_changed)
                status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "Subscribe", NULL);
        if (status != EXIT_SUCCESS)
                return status;

        *ret_watch = g_steal_pointer(&watch);
        return EXIT_SUCCESS;
}

void watch_free(Watch *watch) {
        if (!watch)
                return;

        g_ptr_array_unref(watch->matches);
        sd_event_source_disable_unref(watch->absence);
        sd_bus_detach_event(watch->client->bus);
        sd_event_unref(watch->event);
        sigprocmask(SIG_SETMASK, &watch->old_mask, NULL);
        g_free(watch);
}

int watch_wait(Watch *watch) {
        int r;

        r = sd_event_loop(watch->event);
        if (r < 0)
                return report_error("cannot wait for btd: %s", g_strerror(-r));

        return r;
}
