/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What there is one of in the daemon, and how it is put together. */

#include <signal.h>
#include <stdlib.h>

#include "basic/log.h"
#include "bus/buses.h"
#include "leaves/spawn-sweep.h"
#include "memory.h"
#include "notifier.h"
#include "options.h"
#include "predecessor.h"
#include "service/service.h"
#include "shutdown.h"
#include "signals.h"
#include "supervisor.h"

/* With a bus that takes nothing of what others have asked for. */
#define PATIENCE_USEC (10 * UINT64_C(1000000))

typedef struct Daemon {
        const Options *options;
        GMainContext *context;
        GMainLoop *loop;
        Timers *timers;
        Buses *buses;
        Connection *connection;
        Connection *answers; /* of what others ask: who does not read them holds up nothing else */
        Supervisor *supervisor;
        Predecessor *predecessor; /* until what it has sent has been dealt with; NULL: there was none */
        Listener *stored;
        SpawnSweep *sweep;
        char *outputs; /* of processes, a directory, or NULL */
        LeafServices services;
        Manager *manager;
        Memory *memory;
        Notifier *notifier;
        Shutdown *shutdown;
        ServiceInfo info;
        Service *service;
        Signals *signals;

        bool ready;
        bool refused;  /* the name could not be had */
        bool given_up; /* something could not be ended */
} Daemon;

static const NodeType *const *const node_types[] = { engine_types, leaf_types, NULL };

static void on_over(bool given_up, void *userdata) {
        Daemon *daemon = userdata;

        daemon->given_up |= given_up;
        g_main_loop_quit(daemon->loop);
}

/* What is kept for the next daemon is another's, or will be. */
static void on_refused(const char *text, void *userdata) {
        Daemon *daemon = userdata;

        log_error("%s", text);
        daemon->refused = true;
        shutdown_leave(daemon->shutdown);
}

static bool is_awaited(const SpawnName *name, void *userdata) {
        const Run *run = manager_run(userdata, name->run);

        return run && run_awaits(run, name->node, name->attempt);
}

/* What is asked for after that will be heard, whatever becomes of this daemon. */
static int recover(Daemon *daemon, char **ret_error) {
        int r;

        daemon->services.replies = predecessor_replies(daemon->predecessor);
        r = manager_recover(daemon->manager, ret_error);
        daemon->services.replies = NULL;
        if (r < 0)
                return r;

        predecessor_release(daemon->predecessor);
        if (daemon->services.lasting)
                daemon->stored = predecessor_become(daemon->services.lasting);
        return 0;
}

static void begin(void *userdata) {
        Daemon *daemon = userdata;
        g_autofree char *text = NULL;

        if (manager_is_stopping(daemon->manager))
                return;

        if (recover(daemon, &text) < 0) {
                on_refused(text, daemon);
                return;
        }

        daemon->sweep = spawn_sweep_new(daemon->connection, daemon->outputs, is_awaited, daemon->manager);
        manager_autostart(daemon->manager);
        service_open(daemon->service);
        daemon->ready = true;
        notifier_ready(daemon->notifier);
        text = notifier_status(daemon->notifier);
        log_info("ready on bus '%s': %s", connection_name(daemon->connection), text);
}

static void settle(void *userdata) {
        Daemon *daemon = userdata;

        if (daemon->predecessor)
                predecessor_settle(daemon->predecessor, daemon->connection, begin, daemon);
        else
                begin(daemon);
}

/* On a bus that was given by its address is whatever its user has there. */
static bool has_supervisor(const Daemon *daemon) {
        return g_getenv("NOTIFY_SOCKET") && !daemon->options->address;
}

/* The name is also what keeps a second daemon from starting the same trees once more. */
static void on_named(void *userdata) {
        Daemon *daemon = userdata;

        if (daemon->ready || manager_is_stopping(daemon->manager))
                return;

        g_clear_pointer(&daemon->supervisor, supervisor_free);
        if (has_supervisor(daemon))
                daemon->supervisor = supervisor_await(daemon->connection, daemon->timers, settle, daemon);
        else
                settle(daemon);
}

static const ServiceCallbacks service_callbacks = {
        .named = on_named,
        .refused = on_refused,
};

static void reload(Daemon *daemon) {
        g_autoptr(GPtrArray) messages = NULL;

        if (manager_is_stopping(daemon->manager))
                return;

        log_info("reloading");
        messages = manager_reload(daemon->manager);
}

static void on_signal(int number, void *userdata) {
        Daemon *daemon = userdata;

        if (number == SIGHUP)
                reload(daemon);
        else
                shutdown_on_signal(daemon->shutdown, number);
}

static int watch_signals(Daemon *daemon) {
        int r = signals_new(daemon->context, on_signal, daemon, &daemon->signals);

        if (r < 0)
                log_error("cannot watch signals: %s", g_strerror(-r));
        return r;
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
        return r;
}

static int connect_buses(Daemon *daemon) {
        int r;

        daemon->context = g_main_context_default();
        daemon->loop = g_main_loop_new(daemon->context, FALSE);
        daemon->timers = timers_new(daemon->context);
        r = connect_bus(daemon);

        return r < 0 ? r : open_lasting(daemon);
}

static void create_manager(Daemon *daemon) {
        const Options *options = daemon->options;

        daemon->outputs = options->runtime ? g_build_filename(options->runtime, "outputs", NULL) : NULL;
        daemon->services.buses = daemon->buses;
        daemon->services.timers = daemon->timers;
        daemon->services.user = options->user;
        daemon->services.outputs = daemon->outputs;
        daemon->services.credentials = g_getenv("CREDENTIALS_DIRECTORY");
        daemon->manager = manager_new(daemon->context, &daemon->services,
                                      &(ManagerOptions){
                                              .directories = (const char *const *) options->trees,
                                              .secure = !options->user,
                                              .tables = node_types,
                                              .runtime_directory = options->runtime,
                                              .state_directory = options->state,
                                              .limits = &options->limits,
                                      });
}

static void show_manager(Daemon *daemon) {
        const Options *options = daemon->options;

        daemon->memory = memory_new(daemon->timers, daemon->manager);
        daemon->notifier = notifier_new(daemon->timers, daemon->manager);
        daemon->shutdown = shutdown_new(&(ShutdownOptions){
                .timers = daemon->timers,
                .timeout = options->stop_timeout,
                .connection = daemon->connection,
                .lasting = daemon->services.lasting,
                .manager = daemon->manager,
                .over = on_over,
                .userdata = daemon,
        });
        daemon->info = (ServiceInfo){
                .version = BTD_VERSION,
                .mode = options->user ? "user" : "system",
                .tree_path = (const char *const *) options->trees,
        };
        daemon->answers = connection_again(daemon->connection);
        connection_pace(daemon->answers, PATIENCE_USEC);
        daemon->service = service_new(daemon->context, daemon->answers, daemon->manager, &daemon->info,
                                      &service_callbacks, daemon);
}

/* What was said last, the ends of the runs above all, should reach the bus. */
static void drain(Daemon *daemon, Connection *connection) {
        uint64_t n_queued = 0;

        while (!daemon->given_up && connection_is_ready(connection) &&
               sd_bus_get_n_queued_write(connection_bus(connection), &n_queued) >= 0 && n_queued > 0)
                g_main_context_iteration(daemon->context, TRUE);
}

static void daemon_clear(Daemon *daemon) {
        signals_free(daemon->signals);
        supervisor_free(daemon->supervisor);
        listener_free(daemon->stored);
        spawn_sweep_free(daemon->sweep);
        service_free(daemon->service);
        connection_free(daemon->answers);
        shutdown_free(daemon->shutdown);
        notifier_free(daemon->notifier);
        memory_free(daemon->memory);
        manager_free(daemon->manager);
        predecessor_free(daemon->predecessor);
        buses_free(daemon->buses);
        timers_free(daemon->timers);
        g_free(daemon->outputs);
        if (daemon->loop)
                g_main_loop_unref(daemon->loop);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Daemon, daemon_clear)

static int run(const Options *options) {
        g_auto(Daemon) daemon = { .options = options };

        if (connect_buses(&daemon) < 0 || watch_signals(&daemon) < 0)
                return EXIT_FAILURE;

        create_manager(&daemon);
        show_manager(&daemon);
        manager_load(daemon.manager);
        g_main_loop_run(daemon.loop);
        drain(&daemon, daemon.connection);
        drain(&daemon, daemon.answers);
        return daemon.refused || daemon.given_up ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
        g_auto(Options) options = { 0 };
        int r;

        r = options_parse(&options, argc, argv);
        if (r != OPTIONS_RUN)
                return r;

        log_open(options.log_level);
        limits_enforce(&options.limits);
        return run(&options);
}
