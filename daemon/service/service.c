/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Publishes btd on a bus. All that belongs to one connection, such as its slots, is a Publication: it is created with
 * the connection, and freed when the connection is lost.
 */

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "service/announcements.h"
#include "service/arguments.h"
#include "service/errors.h"
#include "service/log-control.h"
#include "service/manager-bus.h"
#include "service/object-path.h"
#include "service/permission.h"
#include "service/run-bus.h"
#include "service/service.h"
#include "service/subscribers.h"
#include "service/tree-bus.h"
#include "service/unknown-accounts.h"

/* Results of RequestName, see the D-Bus specification. */
#define NAME_PRIMARY_OWNER 1u
#define NAME_IN_QUEUE 2u
#define NAME_EXISTS 3u

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"

/* How long to wait for the name. If btd was killed while it started a process, that process holds btd's connections
 * until it executes its program. */
#define HOLDER_PATIENCE_SEC 5u

/* Limit of threads. Further work waits; each thread may wait for a slow name service or disk. */
#define WORKERS_MAX 16u
/* The same for replays. A run record that is replayed takes several times its size in memory. */
#define REPLAYERS_MAX 2u

typedef struct Publication {
        sd_bus *bus;
        sd_bus_slot *slots[8]; /* of the published objects */
        sd_bus_vtable *manager_vtable, *tree_vtable, *run_vtable;
        sd_bus_slot *name; /* of the current call about the name */
        Timer *patience;   /* while btd waits in the queue for the name */
        bool impatient;    /* waited long enough */
        Published published;
        Announcements *announcements;
} Publication;

struct Service {
        GMainContext *context;
        Timers *timers;
        Connection *connection;
        Listener *listener;
        Manager *manager;
        const ServiceInfo *info;
        const ServiceCallbacks *callbacks;
        void *userdata;
        Workers *workers, *replayers;
        FinishedRuns *finished;
        UnknownAccounts *unknown;
        Publication *publication; /* NULL: not connected */
        bool open;
};

static void publication_free(Publication *publication) {
        announcements_free(publication->announcements);
        answers_free(publication->published.answers);
        subscribers_free(publication->published.subscribers);
        operations_free(publication->published.operations);
        for (size_t i = 0; i < G_N_ELEMENTS(publication->slots); i++)
                sd_bus_slot_unref(publication->slots[i]);
        g_free(publication->manager_vtable);
        g_free(publication->tree_vtable);
        g_free(publication->run_vtable);
        sd_bus_slot_unref(publication->name);
        timer_free(publication->patience);
        sd_bus_unref(publication->bus);
        g_free(publication);
}

static void on_subscribers(void *userdata) {
        const Service *service = userdata;

        announcements_watch(service->publication->announcements);
}

static void on_tell_missed(const char *name, const char *run, void *userdata) {
        const Service *service = userdata;

        announcements_tell_missed(service->publication->announcements, name, run);
}

static bool on_tell(const char *name, const char *run, const GArray *nodes, void *userdata) {
        const Service *service = userdata;

        return announcements_tell(service->publication->announcements, name, run, nodes);
}

static const SubscribersCallbacks subscribers_callbacks = {
        .changed = on_subscribers,
        .tell = on_tell,
        .tell_missed = on_tell_missed,
};

/* Lists the paths: trees first, then runs. */
static int begin_objects(Answer *answer, sd_bus_error *ret_error) {
        Manager *manager = published_manager(answer->userdata);
        g_autoptr(GPtrArray) entries = library_list(manager->library);
        const GPtrArray *runs = runs_list(manager->runs);

        answer->names = g_ptr_array_new_full(entries->len + runs->len, g_free);
        for (unsigned i = 0; i < entries->len; i++)
                g_ptr_array_add(answer->names, object_path_of_tree(((const LibraryEntry *) entries->pdata[i])->name));
        for (unsigned i = 0; i < runs->len; i++)
                g_ptr_array_add(answer->names, object_path_of_run(run_id(runs->pdata[i])));
        return 0;
}

/* The object is a message of its own first, because only a complete message can be measured. */
static int append_next_object(Answer *answer, sd_bus_error *ret_error) {
        sd_bus *bus = sd_bus_message_get_bus(answer->reply);
        g_autoptr(sd_bus_message) object = NULL;
        const ObjectKind *kind;
        const char *path;
        void *found;
        int r;

        if (answer->next == answer->names->len)
                return 0;

        path = g_ptr_array_index(answer->names, answer->next++);
        if (tree_bus_find(bus, path, TREE_INTERFACE, answer->userdata, &found, ret_error) > 0)
                kind = &tree_kind;
        else if (run_bus_find(bus, path, RUN_INTERFACE, answer->userdata, &found, ret_error) > 0)
                kind = &run_kind;
        else
                return 1;

        r = sd_bus_message_new_method_return(answer->question, &object);
        if (r >= 0)
                r = object_kind_append(kind, object, path, answer->userdata, ret_error);
        if (r >= 0)
                r = sd_bus_message_seal(object, 1, 0);
        if (r < 0)
                return r;

        answer->size += arguments_bytes(object, ANSWER_SIZE_MAX);
        r = sd_bus_message_open_container(answer->reply, 'e', OBJECT_SIGNATURE);
        if (r >= 0)
                r = sd_bus_message_copy(answer->reply, object, true);
        if (r >= 0)
                r = sd_bus_message_close_container(answer->reply);
        return r < 0 ? r : 1;
}

/* Replies to GetManagedObjects in pieces, with the same interfaces and properties that sd-bus would send: it would make
 * the reply at once, which would block the main loop when there are thousands of trees. Objects that have been removed
 * since the answer was begun are left out. */
static const AnswerKind managed_objects = {
        .array = "{" OBJECT_SIGNATURE "}",
        .instead = "ListTrees",
        .begin = begin_objects,
        .append = append_next_object,
};

/* Ignore messages that are not from the bus itself. */
static bool is_about_name(sd_bus_message *message, const char *member) {
        const char *name = NULL;

        return sd_bus_message_is_signal(message, BUS_NAME, member) > 0 &&
               g_strcmp0(sd_bus_message_get_sender(message), BUS_NAME) == 0 &&
               sd_bus_message_read(message, "s", &name) > 0 && g_str_equal(name, SERVICE_NAME);
}

static void take_name(Service *service) {
        finished_runs_open(service->finished, service->publication->bus);
        service->callbacks->named(service->userdata);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const ObjectKind *const kinds[] = { &manager_kind, &tree_kind, &run_kind };
        Service *service = userdata;
        Publication *publication = service->publication;
        int r;

        /* Another process has the name now. It may be another btd, and two of them must not run the same trees. */
        if (is_about_name(message, "NameLost")) {
                g_autofree char *text = g_strdup_printf(
                        "another process has taken the name %s on bus '%s'; 'busctl %s status %s' shows which. "
                        "Stopping, because no two btd may run the same trees; the next btd recovers the runs",
                        SERVICE_NAME, connection_name(service->connection),
                        g_str_equal(service->info->mode, "user") ? "--user" : "--system", SERVICE_NAME);

                service->callbacks->refused(text, service->userdata);
                return 1;
        }
        /* A free name is acquired before the reply to RequestName arrives; the reply then says the same. */
        if (is_about_name(message, "NameAcquired")) {
                if (publication->patience) {
                        g_clear_pointer(&publication->patience, timer_free);
                        g_clear_pointer(&publication->name, sd_bus_slot_unref);
                        take_name(service);
                }
                return 1;
        }
        if (!sd_bus_message_is_method_call(message, NULL, NULL))
                return 0;

        r = log_control_take(&publication->published, message, ret_error);
        if (r == 0)
                r = run_bus_refuse_past(&publication->published, message);
        if (r != 0)
                return r;
        if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") > 0 &&
            g_str_equal(sd_bus_message_get_path(message), SERVICE_PATH) && sd_bus_message_is_empty(message) > 0)
                return published_answer(&publication->published, message, &managed_objects, ret_error);

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (sd_bus_message_is_method_call(message, kinds[i]->interface, NULL))
                        return arguments_check(message, kinds[i]->methods);

        return 0;
}

static void refuse_name(Service *service, const char *reason) {
        g_autofree char *text = g_strdup_printf("cannot take the name %s on bus '%s': %s", SERVICE_NAME,
                                                connection_name(service->connection), reason);

        service->callbacks->refused(text, service->userdata);
}

static int request_name(Service *service, uint64_t flags);

/* A zombie has ended, too. */
static bool process_has_ended(pid_t pid) {
        g_auto(AutoFd) fd = (int) syscall(SYS_pidfd_open, pid, 0);
        struct pollfd poller = { .fd = fd, .events = POLLIN };

        return fd < 0 ? errno == ESRCH : poll(&poller, 1, 0) > 0;
}

static int on_holder(sd_bus_message *reply, void *userdata, sd_bus_error *unused);

static int find_holder(Service *service) {
        Publication *publication = service->publication;

        g_clear_pointer(&publication->name, sd_bus_slot_unref);
        return sd_bus_call_method_async(publication->bus, &publication->name, BUS_NAME, BUS_PATH, BUS_NAME,
                                        "GetConnectionUnixProcessID", on_holder, service, "s", SERVICE_NAME);
}

static void on_patience_lost(void *userdata) {
        Service *service = userdata;
        int r;

        service->publication->impatient = true;
        r = find_holder(service);
        if (r < 0)
                refuse_name(service, g_strerror(-r));
}

/* The name becomes free when the last process that holds its owner's connection closes it. If the owner is this
 * process, it is a connection that was lost. */
static int on_holder(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Service *service = userdata;
        Publication *publication = service->publication;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        uint32_t pid = 0;
        int r;

        if (error && sd_bus_is_open(publication->bus) <= 0)
                return 0;

        if (!sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER) &&
            (error || sd_bus_message_read(reply, "u", &pid) < 0 || pid == 0 ||
             (pid != (uint32_t) getpid() && !process_has_ended((pid_t) pid)))) {
                refuse_name(service, "another btd is running there; stop that first");
                return 0;
        }
        if (publication->impatient) {
                g_autofree char *reason = g_strdup_printf(
                        "process %u, which took it, has ended, but after %u s another process still has its "
                        "connection; end that process first: one that %u has started, or one of another PID namespace",
                        pid, HOLDER_PATIENCE_SEC, pid);

                refuse_name(service, reason);
                return 0;
        }

        if (pid > 0)
                log_info("process %u, which has ended, still has the name %s on bus '%s'; waiting for it", pid,
                         SERVICE_NAME, connection_name(service->connection));
        r = request_name(service, SD_BUS_NAME_QUEUE);
        if (r < 0)
                refuse_name(service, g_strerror(-r));
        return 0;
}

/* If the bus is lost meanwhile, btd asks again after the next connection. */
static int on_name(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Service *service = userdata;
        Publication *publication = service->publication;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        uint32_t answer = 0;
        int r;

        if (error && sd_bus_is_open(publication->bus) <= 0)
                return 0;

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED)) {
                refuse_name(service, "the bus does not allow it; run btd as root, and install its D-Bus policy");
        } else if (error) {
                refuse_name(service, error->message);
        } else if (sd_bus_message_read(reply, "u", &answer) < 0 || answer == NAME_EXISTS) {
                r = find_holder(service);
                if (r < 0)
                        refuse_name(service, g_strerror(-r));
        } else if (answer == NAME_IN_QUEUE) {
                publication->patience =
                        timer_new(service->timers, HOLDER_PATIENCE_SEC * UINT64_C(1000000), on_patience_lost, service);
        } else if (answer == NAME_PRIMARY_OWNER) {
                take_name(service);
        }

        return 0;
}

static int request_name(Service *service, uint64_t flags) {
        Publication *publication = service->publication;

        /* If the bus does not read from btd's old connection, btd cannot release the name there, so the new connection
         * replaces the old one. */
        if (connection_was_stuck(service->connection))
                flags |= SD_BUS_NAME_REPLACE_EXISTING;
        g_clear_pointer(&publication->name, sd_bus_slot_unref);
        return sd_bus_request_name_async(publication->bus, &publication->name, SERVICE_NAME,
                                         flags | SD_BUS_NAME_ALLOW_REPLACEMENT, on_name, service);
}

static int publish(Service *service) {
        const Publication *publication = service->publication;
        sd_bus *bus = publication->bus;
        Published *published = &service->publication->published;
        sd_bus_slot **slot = service->publication->slots;
        int r = sd_bus_add_filter(bus, slot++, on_message, service);

        if (r >= 0)
                r = sd_bus_add_object_manager(bus, slot++, SERVICE_PATH);
        if (r >= 0)
                r = sd_bus_add_object_vtable(bus, slot++, SERVICE_PATH, manager_kind.interface,
                                             publication->manager_vtable, published);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, slot++, TREE_PREFIX, tree_kind.interface, publication->tree_vtable,
                                               tree_bus_find, published);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, slot++, TREE_PREFIX, tree_bus_enumerate, published);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, slot++, RUN_PREFIX, run_kind.interface, publication->run_vtable,
                                               run_bus_find, published);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, slot++, RUN_PREFIX, run_bus_enumerate, published);
        if (r >= 0)
                r = sd_bus_add_object_vtable(bus, slot++, LOG_CONTROL_PATH, LOG_CONTROL_INTERFACE, log_control_vtable,
                                             NULL);
        if (r >= 0)
                r = request_name(service, 0);

        return r;
}

static int permits(Request *request, const Credentials *credentials, Accounts *accounts, void *userdata,
                   sd_bus_error *ret_error) {
        g_autofree char *error = NULL;
        int r = tree_access_check(published_manager(userdata), request, credentials, accounts, &error);

        return r < 0 && r != TREE_ACCESS_NOT_KNOWN ? error_from_manager(ret_error, r, error) : r;
}

static void open_publication(Publication *publication) {
        publication->published.open = true;
        operations_open(publication->published.operations);
        answers_open(publication->published.answers);
}

static void on_connected(Connection *connection, void *userdata) {
        Service *service = userdata;
        const Limits *limits = &service->manager->limits;
        Publication *publication = g_new0(Publication, 1);
        Published *published = &publication->published;
        int r;

        publication->bus = sd_bus_ref(connection_bus(connection));
        publication->manager_vtable = object_kind_vtable(&manager_kind);
        publication->tree_vtable = object_kind_vtable(&tree_kind);
        publication->run_vtable = object_kind_vtable(&run_kind);
        published->manager = service->manager;
        published->info = service->info;
        published->finished = service->finished;
        published->workers = service->workers;
        published->replayers = service->replayers;
        /* Create the answers before the operations, so that reads are answered before something changes. */
        published->answers = answers_new(connection, service->manager->services->users, limits, published);
        published->operations =
                operations_new(service->context, publication->bus, service->workers, service->manager->services->users,
                               limits->max[LIMIT_CALLS_OF_A_CALLER], permits, published);
        published->subscribers = subscribers_new(service->context, connection, limits, &subscribers_callbacks, service);
        publication->announcements =
                announcements_new(service->context, publication->bus, published, service->finished);
        service->publication = publication;
        if (service->open)
                open_publication(publication);

        r = publish(service);
        if (r < 0)
                refuse_name(service, g_strerror(-r));
}

static void on_lost(Connection *connection, void *userdata) {
        Service *service = userdata;

        finished_runs_close(service->finished);
        g_clear_pointer(&service->publication, publication_free);
}

/* When btd stops, the delayed operations are refused. */
static void on_retry(void *userdata) {
        const Service *service = userdata;

        if (!service->publication)
                return;

        answers_retry(service->publication->published.answers);
        operations_retry(service->publication->published.operations);
}

/* A run has finished, or no restart follows any more: calls of Wait can be answered. */
static void retry_waits(const Service *service) {
        if (service->publication)
                answers_retry(service->publication->published.answers);
}

static void on_run_changed(Run *run, void *userdata) {
        retry_waits(userdata);
}

/* A start that replaces the run waits for this, too. */
static void on_run_finished(Run *run, void *userdata) {
        on_retry(userdata);
}

static void on_run_lost(const char *id, const char *cause, void *userdata) {
        retry_waits(userdata);
}

static void on_restart_dropped(const char *run, const char *tree, const char *instance, void *userdata) {
        retry_waits(userdata);
}

static const ManagerObserver observer = {
        .run_new = on_run_changed,
        .run_finished = on_run_finished,
        .run_lost = on_run_lost,
        .restart_changed = on_run_changed,
        .restart_dropped = on_restart_dropped,
        .retry_starts = on_retry,
        .stopping = on_retry,
};

static const ListenerCallbacks listener_callbacks = {
        .connected = on_connected,
        .lost = on_lost,
};

Service *service_new(GMainContext *context, Timers *timers, Connection *connection, Manager *manager,
                     const ServiceInfo *info, const ServiceCallbacks *callbacks, void *userdata) {
        Service *service = g_new0(Service, 1);

        errors_register();
        service->context = context;
        service->timers = timers;
        service->connection = connection;
        service->manager = manager;
        service->info = info;
        service->callbacks = callbacks;
        service->userdata = userdata;
        service->workers = workers_new(context, WORKERS_MAX);
        service->replayers = workers_new(context, REPLAYERS_MAX);
        service->finished = finished_runs_new(timers, manager);
        service->unknown = unknown_accounts_new(manager, service->workers);
        service->listener = connection_listen(connection, &listener_callbacks, service);
        manager_observe(manager, &observer, service);
        return service;
}

void service_free(Service *service) {
        if (!service)
                return;

        manager_unobserve(service->manager, &observer, service);
        listener_free(service->listener);
        g_clear_pointer(&service->publication, publication_free);
        finished_runs_free(service->finished);
        unknown_accounts_free(service->unknown);
        workers_free(service->workers);
        workers_free(service->replayers);
        g_free(service);
}

void service_open(Service *service) {
        service->open = true;
        if (!service->publication)
                return;

        open_publication(service->publication);
        announcements_status_changed(service->publication->announcements);
}
