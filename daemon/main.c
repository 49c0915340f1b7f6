/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Options, wiring and sd_notify. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/span.h"
#include "basic/timers.h"
#include "bus/buses.h"
#include "bus/service.h"
#include "leaves/spawn-sweep.h"
#include "leaves/systemd.h"
#include "notify.h"
#include "options.h"
#include "predecessor.h"
#include "runtime/manager.h"
#include "signals.h"

/* The status line is for people. */
#define STATUS_USEC (100 * 1000u)

typedef struct Daemon {
        const Options *options;
        GMainContext *context;
        GMainLoop *loop;
        Timers *timers;
        Buses *buses;
        Connection *connection;
        Predecessor *predecessor; /* until what it has sent has been dealt with; NULL: there was none */
        Listener *stored;
        SpawnSweep *sweep;
        char *outputs; /* of processes, a directory, or NULL */
        LeafServices services;
        Manager *manager;
        ServiceInfo info;
        Service *service;
        Signals *signals;

        bool ready;
        bool refused;  /* the name could not be had */
        bool given_up; /* something could not be ended */
        uint64_t watchdog_usec;
        Timer *watchdog;
        Timer *stop_timeout; /* while it is stopping */
        Timer *status;       /* while there is news to be told */
        Call *system_state;  /* asked for when it is to stop */
} Daemon;

static const NodeType *const *const node_types[] = { engine_types, leaf_types, NULL };

static char *status_text(const Daemon *daemon) {
        g_autoptr(GPtrArray) trees = manager_trees(daemon->manager);
        unsigned running = manager_n_running(daemon->manager);

        return g_strdup_printf("%u tree%s, %u run%s", trees->len, trees->len == 1 ? "" : "s", running,
                               running == 1 ? "" : "s");
}

static void on_status_due(void *userdata) {
        Daemon *daemon = userdata;
        g_autofree char *text = status_text(daemon), *state = g_strconcat("STATUS=", text, NULL);

        g_clear_pointer(&daemon->status, timer_free);
        notify_try(state);
}

/* However many runs come and go meanwhile. */
static void status_changed(Daemon *daemon) {
        if (daemon->ready && !daemon->status)
                daemon->status = timer_new(daemon->timers, STATUS_USEC, on_status_due, daemon);
}

static void notify_ready(const Daemon *daemon) {
        g_autofree char *text = status_text(daemon);

        sd_notifyf(false, "READY=1\nSTATUS=%s", text);
}

static void on_tree_event(const LibraryEntry *entry, void *userdata) {
        status_changed(userdata);
}

static void on_run_event(Run *run, void *userdata) {
        status_changed(userdata);
}

static void on_reloading(void *userdata) {
        const Daemon *daemon = userdata;

        if (daemon->ready)
                sd_notifyf(false, "RELOADING=1\nMONOTONIC_USEC=%" PRIi64, g_get_monotonic_time());
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        const Daemon *daemon = userdata;

        if (daemon->ready)
                notify_ready(daemon);
}

static void on_dealt_with(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const Daemon *daemon = userdata;

        g_main_loop_quit(daemon->loop);
}

/* What systemd was asked for must not be asked for by nobody. */
static void on_idle(void *userdata) {
        Daemon *daemon = userdata;

        manager_abandon(daemon->manager);
        if (!daemon->services.lasting || !connection_is_ready(daemon->services.lasting)) {
                g_main_loop_quit(daemon->loop);
                return;
        }

        call_free(daemon->system_state);
        daemon->system_state = systemd_get(daemon->services.lasting, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER,
                                           "SystemState", on_dealt_with, daemon);
}

static const ManagerObserver observer = {
        .tree_added = on_tree_event,
        .tree_removed = on_tree_event,
        .run_added = on_run_event,
        .run_finished = on_run_event,
        .reloading = on_reloading,
        .reloaded = on_reloaded,
        .idle = on_idle,
};

static void give_up(Daemon *daemon) {
        const GPtrArray *runs = manager_runs(daemon->manager);

        for (unsigned i = 0; i < runs->len; i++) {
                const Run *run = g_ptr_array_index(runs, i);

                if (run_status(run) == STATUS_RUNNING)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = run_tree(run), .run = run_id(run) },
                                    "has not ended in time, given up");
        }

        daemon->given_up = true;
        g_main_loop_quit(daemon->loop);
}

static void on_stop_timeout(void *userdata) {
        give_up(userdata);
}

/* on_idle() follows, or the timeout. */
static void stop(Daemon *daemon, void (*how)(Manager *manager)) {
        if (manager_is_stopping(daemon->manager))
                return;

        notify_try("STOPPING=1");
        if (!daemon->stop_timeout)
                daemon->stop_timeout =
                        timer_new(daemon->timers, daemon->options->stop_timeout, on_stop_timeout, daemon);
        how(daemon->manager);
}

/* What is kept for the next daemon is another's, or will be. */
static void on_refused(const char *text, void *userdata) {
        Daemon *daemon = userdata;

        log_error("%s", text);
        daemon->refused = true;
        stop(daemon, manager_leave);
}

/* When the machine goes down there is no next daemon, and all is brought to an end while that is possible. */
static void on_system_state(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const char *state = NULL;

        if (reply)
                (void) sd_bus_message_read(reply, "v", "s", &state);

        stop(userdata, g_strcmp0(state, "stopping") == 0 ? manager_stop : manager_leave);
}

/* By hand, it ends with all that it has started. Of a service, what may go on does so when it is started again. */
static void stop_orderly(Daemon *daemon, int number) {
        if (number == SIGINT || !g_getenv("NOTIFY_SOCKET")) {
                stop(daemon, manager_stop);
                return;
        }
        if (!connection_is_ready(daemon->connection)) {
                stop(daemon, manager_leave);
                return;
        }

        daemon->stop_timeout = timer_new(daemon->timers, daemon->options->stop_timeout, on_stop_timeout, daemon);
        daemon->system_state = systemd_get(daemon->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "SystemState",
                                           on_system_state, daemon);
}

static bool is_awaited(const SpawnName *name, void *userdata) {
        const Run *run = manager_run(userdata, name->run);

        return run && run_awaits(run, name->node, name->attempt);
}

static void begin(void *userdata) {
        Daemon *daemon = userdata;
        g_autofree char *text = NULL;

        if (manager_is_stopping(daemon->manager))
                return;

        if (manager_recover(daemon->manager, &text) < 0) {
                on_refused(text, daemon);
                return;
        }

        daemon->sweep = spawn_sweep_new(daemon->connection, daemon->outputs, is_awaited, daemon->manager);
        manager_autostart(daemon->manager);
        daemon->ready = true;
        notify_ready(daemon);
        text = status_text(daemon);
        log_info("ready on bus '%s': %s", connection_name(daemon->connection), text);
}

/* The name is also what keeps a second daemon from starting the same trees once more. */
static void on_named(void *userdata) {
        Daemon *daemon = userdata;

        if (daemon->ready || manager_is_stopping(daemon->manager))
                return;

        if (daemon->predecessor)
                predecessor_settle(daemon->predecessor, daemon->connection, begin, daemon);
        else
                begin(daemon);
}

static const ServiceCallbacks service_callbacks = {
        .named = on_named,
        .refused = on_refused,
};

static void on_stop_signal(Daemon *daemon, int number) {
        if (daemon->stop_timeout) {
                log_warning("asked to stop once more, not waiting any longer");
                give_up(daemon);
        } else {
                log_info("stopping");
                stop_orderly(daemon, number);
        }
}

static void on_reload_signal(Daemon *daemon) {
        g_autoptr(GPtrArray) messages = NULL;

        if (manager_is_stopping(daemon->manager))
                return;

        log_info("reloading");
        messages = manager_reload(daemon->manager);
}

static void on_signal(int number, void *userdata) {
        if (number == SIGHUP)
                on_reload_signal(userdata);
        else
                on_stop_signal(userdata, number);
}

static int watch_signals(Daemon *daemon) {
        int r = signals_new(daemon->context, on_signal, daemon, &daemon->signals);

        if (r < 0)
                log_error("cannot watch signals: %s", g_strerror(-r));
        return r;
}

static void on_watchdog(void *userdata) {
        Daemon *daemon = userdata;

        notify_try("WATCHDOG=1");
        timer_free(daemon->watchdog);
        daemon->watchdog = timer_new(daemon->timers, daemon->watchdog_usec / 2, on_watchdog, daemon);
}

static void start_watchdog(Daemon *daemon) {
        if (sd_watchdog_enabled(false, &daemon->watchdog_usec) > 0)
                daemon->watchdog = timer_new(daemon->timers, daemon->watchdog_usec / 2, on_watchdog, daemon);
}

static int connect_bus(Daemon *daemon) {
        const Options *options = daemon->options;
        g_autofree char *error = NULL;
        int r;

        daemon->buses = buses_new(daemon->context,
                                  options->address ? options->address
                                  : options->user  ? "session"
                                                   : "system",
                                  options->address);
        r = buses_get(daemon->buses, NULL, &daemon->connection, &error);
        if (r < 0)
                log_error("%s", error);
        return r;
}

/* Only where there is somebody to whom it can be handed on. */
static int open_lasting(Daemon *daemon) {
        g_autofree char *error = NULL;
        int r;

        if (!daemon->options->runtime || !g_getenv("NOTIFY_SOCKET"))
                return 0;

        daemon->predecessor = predecessor_find();
        r = buses_get_second(daemon->buses, &daemon->services.lasting, &error);
        if (r < 0)
                log_error("%s", error);
        else
                daemon->stored = predecessor_store(daemon->services.lasting);

        return r;
}

static int daemon_setup(Daemon *daemon) {
        const Options *options = daemon->options;
        const char *const *directories = (const char *const *) options->trees;
        ManagerOptions manager_options = {
                .directories = directories,
                .secure = !options->user,
                .tables = node_types,
                .runtime_directory = options->runtime,
                .state_directory = options->state,
                .limits = &options->limits,
        };
        int r;

        daemon->context = g_main_context_default();
        daemon->loop = g_main_loop_new(daemon->context, FALSE);
        daemon->timers = timers_new(daemon->context);
        r = connect_bus(daemon);
        if (r < 0)
                return r;

        daemon->outputs = options->runtime ? g_build_filename(options->runtime, "outputs", NULL) : NULL;
        daemon->services = (LeafServices){ .buses = daemon->buses,
                                           .timers = daemon->timers,
                                           .user = options->user,
                                           .outputs = daemon->outputs,
                                           .credentials = g_getenv("CREDENTIALS_DIRECTORY") };
        r = open_lasting(daemon);
        if (r < 0)
                return r;

        daemon->manager = manager_new(daemon->context, &daemon->services, &manager_options);
        manager_observe(daemon->manager, &observer, daemon);

        daemon->info = (ServiceInfo){ .version = BTD_VERSION,
                                      .mode = options->user ? "user" : "system",
                                      .tree_path = directories };
        daemon->service = service_new(daemon->context, daemon->connection, daemon->manager, &daemon->info,
                                      &service_callbacks, daemon);
        return 0;
}

/* What was said last, the ends of the runs above all, should reach the bus. */
static void drain(Daemon *daemon) {
        uint64_t n_queued = 0;

        while (!daemon->given_up && connection_is_ready(daemon->connection) &&
               sd_bus_get_n_queued_write(connection_bus(daemon->connection), &n_queued) >= 0 && n_queued > 0)
                g_main_context_iteration(daemon->context, TRUE);
}

static void daemon_clear(Daemon *daemon) {
        signals_free(daemon->signals);
        predecessor_free(daemon->predecessor);
        listener_free(daemon->stored);
        spawn_sweep_free(daemon->sweep);
        timer_free(daemon->status);
        call_free(daemon->system_state);
        service_free(daemon->service);
        manager_free(daemon->manager);
        timer_free(daemon->watchdog);
        timer_free(daemon->stop_timeout);
        buses_free(daemon->buses);
        timers_free(daemon->timers);
        g_free(daemon->outputs);
        if (daemon->loop)
                g_main_loop_unref(daemon->loop);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Daemon, daemon_clear)

static int run(const Options *options) {
        g_auto(Daemon) daemon = { .options = options };
        int r;

        r = daemon_setup(&daemon);
        if (r >= 0)
                r = watch_signals(&daemon);
        if (r < 0)
                return EXIT_FAILURE;

        start_watchdog(&daemon);

        manager_load(daemon.manager);
        g_main_loop_run(daemon.loop);
        drain(&daemon);
        return daemon.refused || daemon.given_up ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
        g_auto(Options) options = { 0 };
        int r;

        r = options_parse(&options, argc, argv);
        if (r != OPTIONS_RUN)
                return r;

        log_open(options.log_level);
        return run(&options);
}
