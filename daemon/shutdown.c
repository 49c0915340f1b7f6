/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager says when it is idle; else the timeout is what ends it. */

#include <signal.h>
#include <stdlib.h>

#include "basic/log.h"
#include "leaves/systemd.h"
#include "shutdown.h"

struct Shutdown {
        ShutdownOptions options;
        Timer *timeout;     /* since it was asked for */
        Call *system_state; /* asked for before, and behind, all that systemd is asked for */
};

static void give_up(Shutdown *shutdown) {
        const GPtrArray *runs = manager_runs(shutdown->options.manager);

        for (unsigned i = 0; i < runs->len; i++) {
                const Run *run = g_ptr_array_index(runs, i);

                if (run_status(run) == STATUS_RUNNING)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                                    "has not ended in time, given up");
        }

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

static void get_system_state(Shutdown *shutdown, Connection *connection, CallDone done) {
        call_free(shutdown->system_state);
        shutdown->system_state =
                systemd_get(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState", done, shutdown);
}

static void on_dealt_with(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const Shutdown *shutdown = userdata;

        shutdown->options.over(false, shutdown->options.userdata);
}

/* What systemd was asked for must not be asked for by nobody. */
static void on_idle(void *userdata) {
        Shutdown *shutdown = userdata;
        Connection *lasting = shutdown->options.lasting;

        manager_abandon(shutdown->options.manager);
        if (lasting && connection_is_ready(lasting))
                get_system_state(shutdown, lasting, on_dealt_with);
        else
                shutdown->options.over(false, shutdown->options.userdata);
}

static const ManagerObserver observer = { .idle = on_idle };

/* When the machine goes down there is no next daemon, and all is brought to an end while that is possible. */
static void on_system_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const char *state = NULL;

        if (reply)
                (void) sd_bus_message_read(reply, "v", "s", &state);

        stop(userdata, g_strcmp0(state, "stopping") == 0 ? manager_stop : manager_leave);
}

/* By hand, it ends with all that it has started. Of a service, what may go on does so when it is started again. */
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
                log_warning("asked to stop once more, not waiting any longer");
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
