/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the objects of which btd has only one, and connects them: options, main loop, connections, manager, service. */

#include <errno.h>
#include <glib-unix.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "basic/log.h"
#include "bus/buses.h"
#include "leaf-types/leaf-types.h"
#include "leaves/kinds.h"
#include "leaves/path/path-watch.h"
#include "leaves/spawn/fd-watch.h"
#include "leaves/spawn/spawn-process.h"
#include "leaves/unit/systemd.h"
#include "notifier.h"
#include "options.h"
#include "previous-instance.h"
#include "service/service.h"
#include "shutdown.h"

/* How long to wait for a peer that does not read its replies. */
#define PATIENCE_USEC (10 * UINT64_C(1000000))

/* How long after runs have ended or trees were reloaded unused memory is returned to the system: not each time, because
 * it takes about a millisecond per 10 MiB. Otherwise the allocator keeps it in many small pieces. */
#define TRIM_USEC (UINT64_C(2) * G_USEC_PER_SEC)
/* Allocations of this size are returned as soon as they are freed. It is the default; but glibc raises it by itself
 * unless it is set. */
#define LARGE_ALLOCATION (128 * 1024)

/* Each opens all files of the journal, so it does not help if many do so at once. */
#define JOURNAL_READERS_MAX 4

typedef struct Daemon {
        const Options *options;
        GMainContext *context;
        GMainLoop *loop;
        Timers *timers;
        Workers *workers, *journal_readers;
        Users *users;
        FdWatches *fd_watches;
        PathWatches *path_watches;
        Buses *buses;
        Connection *connection;
        Connection *answers;        /* for replies to others: a peer that does not read blocks nothing else */
        SystemdWait *wait;          /* NULL: not waiting for systemd */
        PreviousInstance *previous; /* NULL: none, or it stored nothing */
        Listener *stored;
        SpawnSweep *sweep;
        char *outputs; /* directory for the output of processes, or NULL */
        LeafServices services;
        Manager *manager;
        Timer *trim; /* of unused memory; NULL: nothing was freed since the last time */
        Notifier *notifier;
        Shutdown *shutdown;
        ServiceInfo info;
        Service *service;
        int signal_fd;
        GSource *signals; /* NULL: not watched yet */

        bool may_begin, begun, ready;
        bool refused;  /* the bus name is taken */
        bool given_up; /* something did not end in time */
} Daemon;

static const NodeType *const *const node_types[] = { engine_types, leaf_types, NULL };

static void on_over(bool given_up, void *userdata) {
        Daemon *daemon = userdata;

        daemon->given_up |= given_up;
        g_main_loop_quit(daemon->loop);
}

/* The bus name is taken: leave the runtime directory to that btd. */
static void on_refused(const char *text, void *userdata) {
        Daemon *daemon = userdata;

        log_error("%s", text);
        daemon->refused = true;
        shutdown_leave(daemon->shutdown);
}

/* While btd stops, runs may already be left to the next btd, which then waits for their processes. */
static bool is_awaited(const SpawnName *name, void *userdata) {
        const Manager *manager = userdata;
        const Run *run = runs_get(manager->runs, name->run);

        return manager->stopping || (run && run_awaits(run, name->node, name->attempt));
}

static bool begin(Daemon *daemon) {
        g_autofree char *text = NULL;
        int r;

        daemon->begun = true;
        /* From here on, references to units are held until the next btd holds them. */
        if (daemon->services.stored)
                daemon->stored = previous_instance_store(daemon->services.stored);
        daemon->services.inheritance = previous_instance_inheritance(daemon->previous);
        r = manager_recover(daemon->manager, &text);
        daemon->services.inheritance = NULL;
        if (r < 0) {
                on_refused(text, daemon);
                return false;
        }

        previous_instance_release(daemon->previous);
        daemon->sweep = spawn_sweep_new(daemon->connection, daemon->outputs, is_awaited, daemon->manager);
        return true;
}

/* If the bus was given by address, it belongs to its user, and has no systemd to wait for. */
static bool has_supervisor(const Daemon *daemon) {
        return g_getenv("NOTIFY_SOCKET") && !daemon->options->address;
}

static void on_systemd_awaited(bool there, void *userdata);

/* Recovered runs must not take what has happened in a shutdown for failures. */
static void on_shutdown_known(void *userdata) {
        Daemon *daemon = userdata;

        /* The bus was lost meanwhile, and this connection is not back yet. */
        if (has_supervisor(daemon) && !connection_is_ready(daemon->connection)) {
                systemd_wait_free(daemon->wait);
                daemon->wait = systemd_wait_new(daemon->connection, daemon->timers, on_systemd_awaited, daemon);
                return;
        }

        if (!daemon->begun && !daemon->manager->stopping && begin(daemon))
                manager_autostart(daemon->manager);
}

static void on_systemd_awaited(bool there, void *userdata) {
        Daemon *daemon = userdata;

        if (!there)
                log_warning("systemd has started btd, but is not on bus '%s'; trees cannot use units there yet",
                            connection_name(daemon->connection));
        daemon->may_begin = true;
        shutdown_find_out(daemon->shutdown, on_shutdown_known, daemon);
}

/* The runs that the previous btd left are halted, too, so that their clean-ups run. */
static void on_going_down(void *userdata) {
        Daemon *daemon = userdata;

        daemon->services.goes_down = true;
        if (daemon->may_begin && !daemon->begun && connection_is_ready(daemon->connection))
                (void) begin(daemon);
}

static void on_autostarted(void *userdata) {
        Daemon *daemon = userdata;
        g_autofree char *text = NULL;

        service_open(daemon->service);
        daemon->ready = true;
        notifier_ready(daemon->notifier);
        text = notifier_status(daemon->notifier);
        log_info("ready on bus '%s': %s", connection_name(daemon->connection), text);
}

static void on_trim(void *userdata) {
        Daemon *daemon = userdata;

        g_clear_pointer(&daemon->trim, timer_free);
        malloc_trim(0);
}

static void trim_later(Daemon *daemon) {
        if (!daemon->trim)
                daemon->trim = timer_new(daemon->timers, TRIM_USEC, on_trim, daemon);
}

static void on_run_gone(Run *run, void *userdata) {
        trim_later(userdata);
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        trim_later(userdata);
}

static const ManagerObserver observer = {
        .autostarted = on_autostarted,
        .run_finished = on_run_gone,
        .run_removed = on_run_gone,
        .reloaded = on_reloaded,
};

/* The name also prevents that a second btd starts the same trees. While btd did not have it, halts may have been
 * requested; if btd stops now, the next one reads them. */
static void on_named(void *userdata) {
        Daemon *daemon = userdata;

        if (daemon->manager->stopping)
                return;
        if (daemon->begun) {
                manager_halt_requested(daemon->manager, "on the bus");
                return;
        }

        g_clear_pointer(&daemon->wait, systemd_wait_free);
        if (has_supervisor(daemon))
                daemon->wait = systemd_wait_new(daemon->connection, daemon->timers, on_systemd_awaited, daemon);
        else
                on_systemd_awaited(true, daemon);
}

static const ServiceCallbacks service_callbacks = {
        .named = on_named,
        .refused = on_refused,
};

static gboolean on_signal(int fd, GIOCondition condition, void *userdata) {
        Daemon *daemon = userdata;
        struct signalfd_siginfo info;

        if (read(fd, &info, sizeof(info)) != sizeof(info))
                return G_SOURCE_CONTINUE;

        if (info.ssi_signo != SIGHUP) {
                shutdown_on_signal(daemon->shutdown, (int) info.ssi_signo);
        } else if (!daemon->manager->stopping) {
                log_info("reloading");
                (void) manager_reload(daemon->manager, NULL, NULL);
        }
        return G_SOURCE_CONTINUE;
}

/* Blocks SIGHUP, SIGINT and SIGTERM for good, and reads them on the main loop. GLib's own sources would start a second
 * thread, and in a process with several threads each allocation and each system call costs more. */
static int watch_signals(Daemon *daemon) {
        sigset_t numbers;
        int r;

        sigemptyset(&numbers);
        sigaddset(&numbers, SIGHUP);
        sigaddset(&numbers, SIGINT);
        sigaddset(&numbers, SIGTERM);

        daemon->signal_fd = signalfd(-1, &numbers, SFD_CLOEXEC | SFD_NONBLOCK);
        if (daemon->signal_fd < 0) {
                r = -errno;
                log_error("cannot watch signals: %s", g_strerror(-r));
                return r;
        }

        (void) sigprocmask(SIG_BLOCK, &numbers, NULL);
        daemon->signals = g_unix_fd_source_new(daemon->signal_fd, G_IO_IN);
        g_source_set_callback(daemon->signals, G_SOURCE_FUNC(on_signal), daemon, NULL);
        g_source_attach(daemon->signals, daemon->context);
        return 0;
}

static int connect_buses(Daemon *daemon) {
        const Options *options = daemon->options;
        const char *bus = options->address ? options->address : options->user ? "session" : "system";
        g_autofree char *error = NULL;
        int r;

        daemon->context = g_main_context_default();
        daemon->loop = g_main_loop_new(daemon->context, FALSE);
        daemon->timers = timers_new(daemon->context);
        daemon->workers = workers_new(daemon->context, UINT_MAX);
        daemon->journal_readers = workers_new(daemon->context, JOURNAL_READERS_MAX);
        daemon->fd_watches = fd_watches_new(daemon->context);
        daemon->path_watches = path_watches_new(daemon->context);
        daemon->buses = buses_new(daemon->context, bus, options->address);
        r = buses_get(daemon->buses, NULL, NULL, &daemon->connection, &error);
        /* Only if a service manager can store the connection for the next btd. */
        if (r >= 0 && options->runtime && g_getenv("NOTIFY_SOCKET")) {
                daemon->previous = previous_instance_find();
                r = buses_get_second(daemon->buses, &daemon->services.stored, &error);
        }
        if (r < 0) {
                log_error("%s", error);
                return r;
        }

        if (has_supervisor(daemon))
                systemd_expect(daemon->connection);
        return 0;
}

static void create_manager(Daemon *daemon) {
        const Options *options = daemon->options;

        daemon->outputs = options->runtime ? g_build_filename(options->runtime, "outputs", NULL) : NULL;
        daemon->services.kind_of = leaf_kind_of;
        daemon->services.buses = daemon->buses;
        daemon->services.timers = daemon->timers;
        daemon->services.workers = daemon->workers;
        daemon->services.journal_readers = daemon->journal_readers;
        daemon->services.users = daemon->users = users_new(&options->limits);
        daemon->services.fd_watches = daemon->fd_watches;
        daemon->services.path_watches = daemon->path_watches;
        daemon->services.user = options->user;
        daemon->services.inhibitors = &logind_inhibitors;
        daemon->services.own_connections = &own_connections;
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
                                              .on_finished = options->on_finished,
                                      });
}

static void show_manager(Daemon *daemon) {
        const Options *options = daemon->options;

        manager_observe(daemon->manager, &observer, daemon);
        daemon->notifier = notifier_new(daemon->timers, daemon->manager);
        daemon->answers = connection_again(daemon->connection, false);
        connection_pace(daemon->answers, PATIENCE_USEC);
        daemon->shutdown = shutdown_new(&(ShutdownOptions){
                .timers = daemon->timers,
                .timeout = options->stop_timeout,
                .connection = daemon->connection,
                .questions = daemon->answers,
                .buses = daemon->buses,
                .user = options->user,
                .supervised = g_getenv("NOTIFY_SOCKET"),
                .stored = daemon->services.stored,
                .manager = daemon->manager,
                .going_down = on_going_down,
                .over = on_over,
                .userdata = daemon,
        });
        daemon->info = (ServiceInfo){
                .version = BTD_VERSION,
                .mode = options->user ? "user" : "system",
                .tree_path = (const char *const *) options->trees,
        };
        daemon->service = service_new(daemon->context, daemon->timers, daemon->answers, daemon->manager, &daemon->info,
                                      &service_callbacks, daemon);
}

/* Sends what is queued, above all the signals about finished runs, before btd exits. */
static void drain(Daemon *daemon, Connection *connection) {
        uint64_t n_queued = 0;

        while (!daemon->given_up && connection_is_ready(connection) &&
               sd_bus_get_n_queued_write(connection_bus(connection), &n_queued) >= 0 && n_queued > 0)
                g_main_context_iteration(daemon->context, TRUE);
}

static void daemon_clear(Daemon *daemon) {
        if (daemon->signals) {
                g_source_destroy(daemon->signals);
                g_source_unref(daemon->signals);
                close(daemon->signal_fd);
        }
        systemd_wait_free(daemon->wait);
        listener_free(daemon->stored);
        spawn_sweep_free(daemon->sweep);
        service_free(daemon->service);
        shutdown_free(daemon->shutdown);
        connection_free(daemon->answers);
        notifier_free(daemon->notifier);
        timer_free(daemon->trim);
        if (daemon->manager)
                manager_unobserve(daemon->manager, &observer, daemon);
        manager_free(daemon->manager);
        previous_instance_free(daemon->previous);
        workers_free(daemon->workers);
        workers_free(daemon->journal_readers);
        path_watches_free(daemon->path_watches);
        fd_watches_free(daemon->fd_watches);
        buses_free(daemon->buses);
        timers_free(daemon->timers);
        users_free(daemon->users);
        g_free(daemon->outputs);
        if (daemon->loop)
                g_main_loop_unref(daemon->loop);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Daemon, daemon_clear)

static int run(const Options *options) {
        g_auto(Daemon) daemon = { .options = options };
        const char *const directories[] = { options->runtime, options->state };

        if (connect_buses(&daemon) < 0 || watch_signals(&daemon) < 0)
                return EXIT_FAILURE;

        create_manager(&daemon);
        show_manager(&daemon);
        /* Made later, a directory around one of trees that does not exist yet would count as a change of the trees. */
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (directories[i])
                        (void) g_mkdir_with_parents(directories[i], 0700);
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

        /* If the reader of stderr goes away, runs must continue. Child processes get the default action back. */
        (void) signal(SIGPIPE, SIG_IGN);
        (void) mallopt(M_MMAP_THRESHOLD, LARGE_ALLOCATION);
        log_open(options.log_level);
        log_attach(g_main_context_default());
        r = run(&options);
        log_close();
        return r;
}
