/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What belongs to one connection, its slots above all, is a Publication: made when the connection comes, dropped when
 * it is lost. The manager is observed all the time.
 */

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "bus/arguments.h"
#include "bus/errors.h"
#include "bus/manager-bus.h"
#include "bus/property-changes.h"
#include "bus/run-bus.h"
#include "bus/service.h"
#include "bus/subscribers.h"
#include "bus/tree-access.h"
#include "bus/tree-bus.h"

/* RequestName's answers, see the D-Bus specification. */
#define NAME_PRIMARY_OWNER 1u
#define NAME_EXISTS 3u

typedef struct Publication {
        sd_bus *bus;
        GPtrArray *slots; /* of what is published, and of the name's request */
        Operations *operations;
        PropertyChanges *changes;
        Subscribers *subscribers;
} Publication;

struct Service {
        GMainContext *context;
        Connection *connection;
        Listener *listener;
        Manager *manager;
        const ServiceInfo *info;
        const ServiceCallbacks *callbacks;
        void *userdata;
        Publication *publication; /* NULL while there is no connection */
};

static void on_slot_dropped(void *slot) {
        sd_bus_slot_unref(slot);
}

static void publication_free(Publication *publication) {
        subscribers_free(publication->subscribers);
        property_changes_free(publication->changes);
        operations_free(publication->operations);
        g_ptr_array_unref(publication->slots);
        sd_bus_unref(publication->bus);
        g_free(publication);
}

static void watch_runs(Service *service, bool watched) {
        const GPtrArray *runs = manager_runs(service->manager);

        for (unsigned i = 0; i < runs->len; i++)
                run_set_watched(g_ptr_array_index(runs, i), watched);
}

static void on_subscribers(bool any, void *userdata) {
        watch_runs(userdata, any);
}

/* Takes the slot. */
static void keep(Publication *publication, sd_bus_slot *slot) {
        g_ptr_array_add(publication->slots, slot);
}

static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        static const struct {
                const char *interface;
                const sd_bus_vtable *vtable;
        } interfaces[] = {
                { MANAGER_INTERFACE, manager_vtable },
                { TREE_INTERFACE, tree_vtable },
                { RUN_INTERFACE, run_vtable },
        };

        if (!sd_bus_message_is_method_call(message, NULL, NULL))
                return 0;

        for (size_t i = 0; i < G_N_ELEMENTS(interfaces); i++)
                if (sd_bus_message_is_method_call(message, interfaces[i].interface, NULL))
                        return arguments_check(message, interfaces[i].vtable);

        return 0;
}

static int publish_objects(Service *service) {
        Publication *publication = service->publication;
        sd_bus *bus = publication->bus;
        sd_bus_slot *slot;
        int r;

        r = sd_bus_add_filter(bus, &slot, on_message, service);
        if (r < 0)
                return r;
        keep(publication, slot);

        r = sd_bus_add_object_manager(bus, &slot, SERVICE_PATH);
        if (r < 0)
                return r;
        keep(publication, slot);

        r = sd_bus_add_object_vtable(bus, &slot, SERVICE_PATH, MANAGER_INTERFACE, manager_vtable, service);
        if (r < 0)
                return r;
        keep(publication, slot);

        r = sd_bus_add_fallback_vtable(bus, &slot, TREE_PREFIX, TREE_INTERFACE, tree_vtable, tree_bus_find, service);
        if (r < 0)
                return r;
        keep(publication, slot);

        r = sd_bus_add_node_enumerator(bus, &slot, TREE_PREFIX, tree_bus_enumerate, service);
        if (r < 0)
                return r;
        keep(publication, slot);

        r = sd_bus_add_fallback_vtable(bus, &slot, RUN_PREFIX, RUN_INTERFACE, run_vtable, run_bus_find, service);
        if (r < 0)
                return r;
        keep(publication, slot);

        r = sd_bus_add_node_enumerator(bus, &slot, RUN_PREFIX, run_bus_enumerate, service);
        if (r < 0)
                return r;
        keep(publication, slot);
        return 0;
}

static void refuse_name(Service *service, const char *reason) {
        g_autofree char *text = g_strdup_printf("cannot have the name %s on bus '%s': %s", SERVICE_NAME,
                                                connection_name(service->connection), reason);

        service->callbacks->refused(text, service->userdata);
}

/* A bus that goes away in the middle of it is asked again when it comes back. */
static int on_name(sd_bus_message *reply, void *userdata, sd_bus_error *unused) {
        Service *service = userdata;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        uint32_t answer = 0;

        if (error && sd_bus_is_open(service->publication->bus) <= 0)
                return 0;

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_ACCESS_DENIED))
                refuse_name(service, "the bus does not allow it; run btd as root, and install its D-Bus policy");
        else if (error)
                refuse_name(service, error->message);
        else if (sd_bus_message_read(reply, "u", &answer) < 0 || answer == NAME_EXISTS)
                refuse_name(service, "another btd is running there; stop that first");
        else if (answer == NAME_PRIMARY_OWNER)
                service->callbacks->named(service->userdata);

        return 0;
}

static int publish(Service *service) {
        sd_bus_slot *slot;
        int r;

        r = publish_objects(service);
        if (r < 0)
                return r;

        r = sd_bus_request_name_async(service->publication->bus, &slot, SERVICE_NAME, 0, on_name, service);
        if (r < 0)
                return r;

        keep(service->publication, slot);
        return 0;
}

static bool permits(const Deed *deed, const Credentials *credentials, void *userdata, char **ret_error) {
        return tree_access_permits(service_manager(userdata), deed, credentials, ret_error);
}

static void on_connected(Connection *connection, void *userdata) {
        Service *service = userdata;
        const Limits *limits = manager_limits(service->manager);
        Publication *publication = g_new0(Publication, 1);
        int r;

        publication->bus = sd_bus_ref(connection_bus(connection));
        publication->slots = g_ptr_array_new_with_free_func(on_slot_dropped);
        publication->operations =
                operations_new(publication->bus, limits->max[LIMIT_CALLS_OF_A_CALLER], permits, service);
        publication->changes = property_changes_new(service->context, publication->bus);
        publication->subscribers = subscribers_new(connection, limits, on_subscribers, service);
        service->publication = publication;

        r = publish(service);
        if (r < 0)
                refuse_name(service, g_strerror(-r));
}

static void on_lost(Connection *connection, void *userdata) {
        Service *service = userdata;

        watch_runs(service, false);
        g_clear_pointer(&service->publication, publication_free);
}

static const ListenerCallbacks listener_callbacks = {
        .connected = on_connected,
        .lost = on_lost,
};

static void change(Service *service, const char *path, const char *interface, const char *property) {
        if (service->publication)
                property_changes_add(service->publication->changes, path, interface, property);
}

static void change_manager(Service *service, const char *property) {
        change(service, SERVICE_PATH, MANAGER_INTERFACE, property);
}

static void on_tree_added(const LibraryEntry *entry, void *userdata) {
        Service *service = userdata;
        g_autofree char *path = tree_bus_path(entry->name);

        if (!service->publication)
                return;

        (void) sd_bus_emit_object_added(service->publication->bus, path);
        change_manager(service, "NTrees");
}

static void on_tree_changed(const LibraryEntry *entry, void *userdata) {
        static const char *const properties[] = { "Description", "SourcePath", "Hash",       "Autostart",
                                                  "NodeCount",   "State",      "Diagnostics" };
        g_autofree char *path = tree_bus_path(entry->name);

        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++)
                change(userdata, path, TREE_INTERFACE, properties[i]);
}

static void on_tree_removed(const LibraryEntry *entry, void *userdata) {
        Service *service = userdata;
        g_autofree char *path = tree_bus_path(entry->name);

        if (!service->publication)
                return;

        property_changes_forget(service->publication->changes, path);
        (void) sd_bus_emit_object_removed(service->publication->bus, path);
        change_manager(service, "NTrees");
}

/* A tree that is gone can still have runs. */
static void change_tree_of_run(Service *service, const Run *run, const char *property) {
        g_autofree char *path = tree_bus_path(run_tree(run));

        if (manager_tree(service->manager, run_tree(run)))
                change(service, path, TREE_INTERFACE, property);
}

static void on_run_added(Run *run, void *userdata) {
        Service *service = userdata;
        g_autofree char *path = run_bus_path(run_id(run));

        if (!service->publication)
                return;

        run_set_watched(run, subscribers_any(service->publication->subscribers));
        (void) sd_bus_emit_object_added(service->publication->bus, path);
        manager_bus_emit_run_new(service->publication->bus, run);
        change_manager(service, "NRunning");
        change_tree_of_run(service, run, "Runs");
        change_tree_of_run(service, run, "NRunning");
}

static void on_run_changed(Run *run, void *userdata) {
        Service *service = userdata;

        if (service->publication)
                run_bus_emit_nodes_changed(service->publication->bus, run);
}

static void on_run_halting(Run *run, void *userdata) {
        g_autofree char *path = run_bus_path(run_id(run));

        change(userdata, path, RUN_INTERFACE, "Status");
        change(userdata, path, RUN_INTERFACE, "Cause");
        change(userdata, path, RUN_INTERFACE, "CauseChain");
}

static void on_run_state_changed(Run *run, void *userdata) {
        g_autofree char *path = run_bus_path(run_id(run));

        change(userdata, path, RUN_INTERFACE, "Status");
        change(userdata, path, RUN_INTERFACE, "Breakpoints");
        change(userdata, path, RUN_INTERFACE, "StandsBefore");
        change(userdata, path, RUN_INTERFACE, "Durable");
        change(userdata, path, RUN_INTERFACE, "NotDurable");
}

static void on_run_finished(Run *run, void *userdata) {
        Service *service = userdata;
        g_autofree char *path = run_bus_path(run_id(run));

        if (!service->publication)
                return;

        change(service, path, RUN_INTERFACE, "Status");
        change(service, path, RUN_INTERFACE, "Cause");
        change(service, path, RUN_INTERFACE, "CauseChain");
        change(service, path, RUN_INTERFACE, "Finished");
        change(service, path, RUN_INTERFACE, "Restart");
        change_manager(service, "NRunning");
        change_tree_of_run(service, run, "NRunning");
        run_bus_emit_finished(service->publication->bus, run);
        manager_bus_emit_run_finished(service->publication->bus, run);
}

static void on_restart_changed(Run *run, void *userdata) {
        g_autofree char *path = run_bus_path(run_id(run));

        change(userdata, path, RUN_INTERFACE, "Restart");
}

static void on_run_removed(Run *run, void *userdata) {
        Service *service = userdata;
        g_autofree char *path = run_bus_path(run_id(run));

        if (!service->publication)
                return;

        property_changes_forget(service->publication->changes, path);
        (void) sd_bus_emit_object_removed(service->publication->bus, path);
        change_tree_of_run(service, run, "Runs");
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        Service *service = userdata;

        if (service->publication)
                manager_bus_emit_reloaded(service->publication->bus, messages);
}

static void on_stopping(void *userdata) {
        change_manager(userdata, "Status");
}

static const ManagerObserver observer = {
        .tree_added = on_tree_added,
        .tree_changed = on_tree_changed,
        .tree_removed = on_tree_removed,
        .run_added = on_run_added,
        .run_changed = on_run_changed,
        .run_state_changed = on_run_state_changed,
        .run_halting = on_run_halting,
        .run_finished = on_run_finished,
        .restart_changed = on_restart_changed,
        .run_removed = on_run_removed,
        .reloaded = on_reloaded,
        .stopping = on_stopping,
};

Service *service_new(GMainContext *context, Connection *connection, Manager *manager, const ServiceInfo *info,
                     const ServiceCallbacks *callbacks, void *userdata) {
        Service *service = g_new0(Service, 1);

        errors_register();
        service->context = context;
        service->connection = connection;
        service->manager = manager;
        service->info = info;
        service->callbacks = callbacks;
        service->userdata = userdata;
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
        g_free(service);
}

Manager *service_manager(Service *service) {
        return service->manager;
}

const ServiceInfo *service_info(Service *service) {
        return service->info;
}

int service_authorize(Service *service, sd_bus_message *message, Deed deed, OperationRun run, sd_bus_error *ret_error) {
        return operation_start(service->publication->operations, message, deed, run, ret_error);
}

int service_subscribe(Service *service, sd_bus_message *message, sd_bus_error *ret_error) {
        return subscribers_add(service->publication->subscribers, message, ret_error);
}

void service_unsubscribe(Service *service, const char *name) {
        subscribers_remove(service->publication->subscribers, name);
}
