/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What belongs to one connection, its slots above all, is a Publication: made when the connection comes, dropped when
 * it is lost.
 */

#include "service/service.h"
#include "basic/log.h"
#include "service/announcements.h"
#include "service/arguments.h"
#include "service/errors.h"
#include "service/manager-bus.h"
#include "service/object-path.h"
#include "service/run-bus.h"
#include "service/subscribers.h"
#include "service/tree-access.h"
#include "service/tree-bus.h"

/* RequestName's answers, see the D-Bus specification. */
#define NAME_PRIMARY_OWNER 1u
#define NAME_EXISTS 3u

typedef struct Publication {
        sd_bus *bus;
        sd_bus_slot *slots[8]; /* of what is published, and of the name's request */
        Published published;
        Announcements *announcements;
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
        bool open;
};

static void publication_free(Publication *publication) {
        announcements_free(publication->announcements);
        questions_free(publication->published.questions);
        subscribers_free(publication->published.subscribers);
        operations_free(publication->published.operations);
        for (size_t i = 0; i < G_N_ELEMENTS(publication->slots); i++)
                sd_bus_slot_unref(publication->slots[i]);
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

static void on_missed(const char *name, const char *run, void *userdata) {
        const Service *service = userdata;

        announcements_repeat(service->publication->announcements, name, run);
}

static const SubscribersCallbacks subscribers_callbacks = {
        .changed = on_subscribers,
        .missed = on_missed,
};

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

/* Only one that has the name itself, and cannot give it up since the bus does not listen, takes it from itself. */
static uint64_t name_flags(const Service *service) {
        return SD_BUS_NAME_ALLOW_REPLACEMENT |
               (connection_was_stuck(service->connection) ? SD_BUS_NAME_REPLACE_EXISTING : 0);
}

static int publish(Service *service) {
        sd_bus *bus = service->publication->bus;
        Published *published = &service->publication->published;
        sd_bus_slot **slot = service->publication->slots;
        int r = sd_bus_add_filter(bus, slot++, on_message, service);

        if (r >= 0)
                r = sd_bus_add_object_manager(bus, slot++, SERVICE_PATH);
        if (r >= 0)
                r = sd_bus_add_object_vtable(bus, slot++, SERVICE_PATH, MANAGER_INTERFACE, manager_vtable, published);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, slot++, TREE_PREFIX, TREE_INTERFACE, tree_vtable, tree_bus_find,
                                               published);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, slot++, TREE_PREFIX, tree_bus_enumerate, published);
        if (r >= 0)
                r = sd_bus_add_fallback_vtable(bus, slot++, RUN_PREFIX, RUN_INTERFACE, run_vtable, run_bus_find,
                                               published);
        if (r >= 0)
                r = sd_bus_add_node_enumerator(bus, slot++, RUN_PREFIX, run_bus_enumerate, published);
        if (r >= 0)
                r = sd_bus_request_name_async(bus, slot, SERVICE_NAME, name_flags(service), on_name, service);

        return r;
}

static int permits(Deed *deed, const Credentials *credentials, void *userdata, sd_bus_error *ret_error) {
        g_autofree char *error = NULL;
        int r = tree_access_check(published_manager(userdata), deed, credentials, &error);

        return r < 0 ? error_from_manager(ret_error, r, error) : 0;
}

static void open_publication(Publication *publication) {
        publication->published.open = true;
        operations_open(publication->published.operations);
        questions_open(publication->published.questions);
}

static void on_connected(Connection *connection, void *userdata) {
        Service *service = userdata;
        const Limits *limits = manager_limits(service->manager);
        Publication *publication = g_new0(Publication, 1);
        Published *published = &publication->published;
        int r;

        publication->bus = sd_bus_ref(connection_bus(connection));
        published->manager = service->manager;
        published->info = service->info;
        /* Before the operations: who asks is answered before something changes. */
        published->questions =
                questions_new(service->context, publication->bus, limits->max[LIMIT_CALLS_OF_A_CALLER], published);
        published->operations = operations_new(service->context, publication->bus, limits->max[LIMIT_CALLS_OF_A_CALLER],
                                               permits, published);
        published->subscribers = subscribers_new(service->context, connection, limits, &subscribers_callbacks, service);
        publication->announcements =
                announcements_new(service->context, publication->bus, service->manager, published->subscribers);
        service->publication = publication;
        if (service->open)
                open_publication(publication);

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
        return service;
}

void service_free(Service *service) {
        if (!service)
                return;

        listener_free(service->listener);
        g_clear_pointer(&service->publication, publication_free);
        g_free(service);
}

void service_open(Service *service) {
        service->open = true;
        if (!service->publication)
                return;

        open_publication(service->publication);
        announcements_status_changed(service->publication->announcements);
}
