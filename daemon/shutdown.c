/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stops btd: waits until the manager is idle or the timeout expires. */

#include <signal.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "leaves/unit/systemd.h"
#include "shutdown.h"

struct Shutdown {
        ShutdownOptions options;
        Timer *timeout;     /* runs since the request */
        Call *system_state; /* asks for the state of systemd, before stopping and at the end */
};

static void give_up(Shutdown *shutdown) {
        const GPtrArray *runs = manager_runs(shutdown->options.manager);

        for (unsigned i = 0; i < runs->len; i++) {
                const Run *run = g_ptr_array_index(runs, i);

                if (run_status(run) == STATUS_RUNNING)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                                    "has not ended in time; not waiting for it any longer");
        }

        manager_abandon(shutdown->options.manager);
        shutdown->options.over(true, shutdown->options.userdata);
}

static void on_timeout(void *userdata) {
        give_up(userdata);
}

static void start_timeout(Shutdown *shutdown) {
        if (!shutdown->timeout)
                shutdown->timeout =
                        timer_new(shutdown->options.timers, shutdown->options.timeout, on_timeout, shutdown);
}

static void stop(Shutdown *shutdown, void (*how)(Manager *manager)) {
        if (manager_is_stopping(shutdown->options.manager))
                return;

        start_timeout(shutdown);
        how(shutdown->options.manager);
}

/* Does not use systemd_get(), which waits for a systemd that is absent: there may never be one. The bus replies at once
 * if there is none; the state that a stopping systemd reports is good enough. */
static void get_system_state(Shutdown *shutdown, Connection *connection, CallDone done) {
        g_autoptr(sd_bus_message) message =
                systemd_message(connection, SYSTEMD_MANAGER_PATH, "org.freedesktop.DBus.Properties", "Get", "ss",
                                SYSTEMD_MANAGER, "SystemState");

        call_free(shutdown->system_state);
        shutdown->system_state = connection_call(connection, message, done, shutdown);
}

static void on_requests_read(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const Shutdown *shutdown = userdata;

        shutdown->options.over(false, shutdown->options.userdata);
}

/* Make a round trip to PID 1 before exiting. systemd refuses requests if the sender has left the bus before it reads
 * them; its reply means that it has read all earlier ones. */
static void on_idle(void *userdata) {
        Shutdown *shutdown = userdata;
        Connection *connection = shutdown->options.connection;

        manager_abandon(shutdown->options.manager);
        if (shutdown->options.supervised && connection_is_ready(connection))
                get_system_state(shutdown, connection, on_requests_read);
        else
                shutdown->options.over(false, shutdown->options.userdata);
}

static const ManagerObserver observer = { .idle = on_idle };

/* When the machine shuts down, there is no next btd: halt all runs while this is possible. */
static void on_system_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const char *state = NULL;

        if (reply)
                (void) sd_bus_message_read(reply, "v", "s", &state);

        stop(userdata, g_strcmp0(state, "stopping") == 0 ? manager_stop : manager_leave);
}

/* SIGINT, or no service manager: halt all runs. As a service, leave runs that can continue to the next btd. */
static void begin(Shutdown *shutdown, int number) {
        if (number == SIGINT || !getenv("NOTIFY_SOCKET")) {
                stop(shutdown, manager_stop);
                return;
        }
        if (!connection_is_ready(shutdown->options.connection)) {
                stop(shutdown, manager_leave);
                return;
        }

        start_timeout(shutdown);
        get_system_state(shutdown, shutdown->options.connection, on_system_state);
}

void shutdown_on_signal(Shutdown *shutdown, int number) {
        if (shutdown->timeout) {
                log_warning("asked to stop again; not waiting any longer");
                give_up(shutdown);
        } else {
                log_info("stopping");
                begin(shutdown, number);
        }
}

void shutdown_leave(Shutdown *shutdown) {
        stop(shutdown, manager_leave);
}

Shutdown *shutdown_new(const ShutdownOptions *options) {
        Shutdown *shutdown = g_new0(Shutdown, 1);

        shutdown->options = *options;
        manager_observe(options->manager, &observer, shutdown);
        return shutdown;
}

void shutdown_free(Shutdown *shutdown) {
        if (!shutdown)
                return;

        manager_unobserve(shutdown->options.manager, &observer, shutdown);
        call_free(shutdown->system_state);
        timer_free(shutdown->timeout);
        g_free(shutdown);
}
