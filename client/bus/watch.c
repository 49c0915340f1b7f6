/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Waits for btd's signals, for all verbs that wait: an sd-event loop with the bus, SIGINT and SIGTERM. */

#include <signal.h>
#include <sys/epoll.h>

#include "client/bus/node-info.h"
#include "client/bus/watch.h"

/* How long btd may be away: a service manager restarts it at once, but an upgrade may take longer. */
#define ABSENCE_MAX (30 * UINT64_C(1000000))

/* How often to try to reconnect to a lost bus. */
#define RECONNECT_USEC (250 * UINT64_C(1000))

/* Changes within this time are handled together. */
#define MOMENT_USEC (200 * UINT64_C(1000))

struct Watch {
        Client *client;
        WatchCallbacks callbacks;
        void *userdata;
        bool waits_for_restart, forever;
        bool away;                /* waiting for btd to come back */
        sd_event_source *absence; /* ends that wait; NULL: it has no limit */
        sd_event_source *search;  /* tries to reconnect; NULL: connected */
        sd_event_source *soon;    /* see watch_soon(); NULL: not pending */
        void (*soon_callback)(void *userdata);
        sd_event_source *fd; /* see watch_fd(); NULL: none */
        void (*fd_callback)(void *userdata);
        sd_event *event;
        GPtrArray *matches; /* sd_bus_slot * */
        sigset_t old_mask;
};

void watch_end(Watch *watch, int status) {
        sd_event_exit(watch->event, status);
}

sd_event *watch_loop(const Watch *watch) {
        return watch->event;
}

static int on_run_new(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;
        const char *id, *path;

        if (sd_bus_message_read(message, "so", &id, &path) >= 0)
                watch->callbacks.run_new(id, path, watch->userdata);

        return 0;
}

static int on_run_ready(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;
        const char *id, *path;

        if (sd_bus_message_read(message, "so", &id, &path) >= 0)
                watch->callbacks.run_ready(id, watch->userdata);

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

        if (node_info_of_message(message, &nodes) == EXIT_SUCCESS)
                watch->callbacks.nodes_changed(sd_bus_message_get_path(message), nodes, watch->userdata);

        return 0;
}

static int on_events(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;

        watch->callbacks.events(message, watch->userdata);
        return 0;
}

static int on_restart_dropped(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *run, *tree;
        Watch *watch = userdata;

        if (sd_bus_message_read(message, "ss", &run, &tree) >= 0)
                watch->callbacks.restart_dropped(tree, watch->userdata);

        return 0;
}

static int on_reloaded(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        g_auto(GStrv) errors = NULL;
        Watch *watch = userdata;

        if (client_read_strings(message, &errors) == EXIT_SUCCESS)
                watch->callbacks.reloaded(errors, watch->userdata);

        return 0;
}

static int on_soon(sd_event_source *source, uint64_t usec, void *userdata) {
        Watch *watch = userdata;

        watch->soon = sd_event_source_disable_unref(watch->soon);
        watch->soon_callback(watch->userdata);
        return 0;
}

void watch_soon(Watch *watch, void (*callback)(void *userdata)) {
        watch->soon_callback = callback;
        if (!watch->soon)
                (void) sd_event_add_time_relative(watch->event, &watch->soon, CLOCK_MONOTONIC, MOMENT_USEC, 0, on_soon,
                                                  watch);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Watch *watch = userdata;

        watch->fd_callback(watch->userdata);
        return 0;
}

int watch_fd(Watch *watch, int fd, void (*callback)(void *userdata)) {
        watch->fd_callback = callback;
        return sd_event_add_io(watch->event, &watch->fd, fd, EPOLLIN, on_readable, watch);
}

static int on_absent(sd_event_source *source, uint64_t usec, void *userdata) {
        Watch *watch = userdata;

        watch_end(watch, client_lost_daemon(watch->client));
        return 0;
}

void watch_daemon_away(Watch *watch) {
        if (watch->away)
                return;

        watch->away = true;
        if (!watch->forever && sd_event_add_time_relative(watch->event, &watch->absence, CLOCK_MONOTONIC, ABSENCE_MAX,
                                                          0, on_absent, watch) < 0)
                watch_end(watch, client_lost_daemon(watch->client));
        else if (watch->callbacks.away)
                watch->callbacks.away(watch->userdata);
}

static void come_back(Watch *watch, const char *how) {
        watch->away = false;
        watch->absence = sd_event_source_disable_unref(watch->absence);
        watch->callbacks.back(how, watch->userdata);
}

static int on_owner_changed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        const char *name, *old_owner, *new_owner;
        Watch *watch = userdata;

        if (sd_bus_message_read(message, "sss", &name, &old_owner, &new_owner) < 0)
                return 0;

        if (*old_owner && !watch->waits_for_restart && watch->client->next_daemon &&
            !g_str_equal(old_owner, watch->client->next_daemon))
                watch->away = true; /* a call has waited for the next one meanwhile */
        else if (*old_owner && !watch->waits_for_restart)
                watch_end(watch, client_lost_daemon(watch->client));
        else if (*old_owner && !*new_owner) {
                if (!watch->away && !watch->client->output.quiet)
                        report_error("btd has exited; waiting for it to start again");
                watch_daemon_away(watch);
        } else if (watch->away || *old_owner)
                come_back(watch, "btd was restarted");

        return 0;
}

void watch_wait_for_restart(Watch *watch, bool waits_for_restart, bool forever) {
        watch->waits_for_restart = waits_for_restart;
        watch->forever = forever;
        if (forever)
                watch->absence = sd_event_source_disable_unref(watch->absence);
}

static int attach(Watch *watch);

/* The btd on the bus may be the previous one or a new one. */
static int on_search(sd_event_source *source, uint64_t usec, void *userdata) {
        g_autofree char *daemon = NULL;
        Watch *watch = userdata;

        g_ptr_array_set_size(watch->matches, 0);
        if (!client_reconnect(watch->client) || attach(watch) < 0) {
                if (sd_event_source_set_time_relative(source, RECONNECT_USEC) < 0 ||
                    sd_event_source_set_enabled(source, SD_EVENT_ONESHOT) < 0)
                        watch_end(watch, client_lost_bus(watch->client));
                return 0;
        }

        watch->search = sd_event_source_disable_unref(watch->search);
        daemon = client_find_daemon(watch->client);
        if (daemon)
                come_back(watch, "reconnected to the bus");
        return 0;
}

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Watch *watch = userdata;

        if (watch->search) /* already reconnecting */
                return 0;
        if (!watch->waits_for_restart || sd_event_add_time_relative(watch->event, &watch->search, CLOCK_MONOTONIC,
                                                                    RECONNECT_USEC, 0, on_search, watch) < 0) {
                watch_end(watch, client_lost_bus(watch->client));
                return 0;
        }

        if (!watch->client->output.quiet)
                report_error("the connection to the bus was lost; reconnecting");
        watch_daemon_away(watch);
        return 0;
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        watch_end(userdata, EXIT_SIGNAL + info->ssi_signo);
        return 0;
}

#define RULE(sender, interface, member)                                                                                \
        "type='signal',sender='" sender "',interface='" interface "',member='" member "'"

static int attach(Watch *watch) {
        const struct {
                bool wanted;
                const char *rule;
                sd_bus_message_handler_t callback;
        } matches[] = {
                { watch->callbacks.run_new, RULE(BTD_NAME, BTD_MANAGER, "RunNew"), on_run_new },
                { watch->callbacks.run_ready, RULE(BTD_NAME, BTD_MANAGER, "RunReady"), on_run_ready },
                { watch->callbacks.run_finished, RULE(BTD_NAME, BTD_MANAGER, "RunFinished"), on_run_finished },
                { watch->callbacks.nodes_changed, RULE(BTD_NAME, BTD_RUN, "NodesChanged"), on_nodes_changed },
                { watch->callbacks.events, RULE(BTD_NAME, BTD_RUN, "Events"), on_events },
                { watch->callbacks.restart_dropped, RULE(BTD_NAME, BTD_MANAGER, "RestartDropped"), on_restart_dropped },
                { watch->callbacks.reloaded, RULE(BTD_NAME, BTD_MANAGER, "Reloaded"), on_reloaded },
                { true, RULE("org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged") ",arg0='" BTD_NAME "'",
                  on_owner_changed },
                { true, RULE("org.freedesktop.DBus.Local", "org.freedesktop.DBus.Local", "Disconnected"),
                  on_disconnected },
        };

        int r;

        r = sd_bus_attach_event(watch->client->bus, watch->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        for (size_t i = 0; i < G_N_ELEMENTS(matches); i++) {
                sd_bus_slot *slot;

                if (!matches[i].wanted)
                        continue;
                r = sd_bus_add_match(watch->client->bus, &slot, matches[i].rule, matches[i].callback, watch);
                if (r < 0)
                        return r;
                g_ptr_array_add(watch->matches, slot);
        }

        return 0;
}

static void free_slot(void *slot) {
        sd_bus_slot_unref(slot);
}

int watch_new(Client *client, const WatchCallbacks *callbacks, void *userdata, Watch **ret_watch) {
        static const int signals[] = { SIGINT, SIGTERM };
        g_autoptr(Watch) watch = NULL;
        sigset_t mask;
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
        /* The signals are blocked until watch_wait(), so that a Ctrl-C during a call is handled after it: see
         * interrupt.h. */
        sigemptyset(&mask);
        for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
                sigaddset(&mask, signals[i]);
        sigprocmask(SIG_BLOCK, &mask, &watch->old_mask);

        r = sd_event_new(&watch->event);
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(signals); i++)
                r = sd_event_add_signal(watch->event, NULL, signals[i], on_signal, watch);
        if (r >= 0)
                r = attach(watch);
        if (r < 0)
                return report_error("cannot watch btd: %s", g_strerror(-r));

        *ret_watch = g_steal_pointer(&watch);
        return EXIT_SUCCESS;
}

void watch_free(Watch *watch) {
        if (!watch)
                return;

        g_ptr_array_unref(watch->matches);
        sd_event_source_disable_unref(watch->absence);
        sd_event_source_disable_unref(watch->search);
        sd_event_source_disable_unref(watch->soon);
        sd_event_source_disable_unref(watch->fd);
        if (watch->client->bus)
                sd_bus_detach_event(watch->client->bus);
        /* sd-bus closes the connection when the event loop has ended. The next call makes another one. */
        if (watch->client->bus && sd_bus_is_open(watch->client->bus) <= 0)
                watch->client->bus = sd_bus_close_unref(watch->client->bus);
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
