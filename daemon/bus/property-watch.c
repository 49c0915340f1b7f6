/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * When the bus has confirmed the matches and said who owns the name, the values are asked for, and from then on signals
 * tell. Whoever is told of a value may stop to watch it, so what is being told is kept.
 */

#include <stdbool.h>

#include "bus/names.h"
#include "bus/property-signals.h"
#include "bus/property-watch.h"
#include "bus/property.h"

struct Properties {
        Connection *connection;
        GHashTable *interfaces; /* by their keys */
};

#define N_MATCHES 2u

/* An interface of an object. */
typedef struct Interface {
        Properties *all;
        char *key;
        char *destination, *path, *name;
        Listener *listener;
        NameUse owner;
        Match *changes, *object;
        unsigned n_ready; /* of these N_MATCHES */
        bool had_owner;
        GHashTable *properties; /* by their names */
        unsigned n_kept;        /* how often it is in use */
} Interface;

struct PropertyWatch {
        Follower follower;  /* first: a Follower is its PropertyWatch */
        Property *property; /* NULL: the connection is gone */
};

static void interface_free(void *p) {
        Interface *interface = p;

        g_hash_table_unref(interface->properties);
        match_free(interface->changes);
        match_free(interface->object);
        name_leave(&interface->owner);
        listener_free(interface->listener);
        g_free(interface->key);
        g_free(interface->destination);
        g_free(interface->path);
        g_free(interface->name);
        g_free(interface);
}

static void interface_drop_unused(Interface *interface) {
        if (g_hash_table_size(interface->properties) == 0 && interface->n_kept == 0)
                g_hash_table_remove(interface->all->interfaces, interface->key);
}

static bool interface_is_ready(const Interface *interface) {
        return interface->n_ready == N_MATCHES;
}

/* For each property; any may go meanwhile, and the interface after that. */
static void interface_foreach(Interface *interface, void (*function)(Property *property)) {
        g_autoptr(GList) all = g_hash_table_get_values(interface->properties);

        interface->n_kept++;
        for (GList *i = all; i; i = i->next)
                ((Property *) i->data)->kept = true;

        for (GList *i = all; i; i = i->next) {
                Property *property = i->data;

                function(property);
                property->kept = false;
                property_drop_unused(property);
        }

        interface->n_kept--;
        interface_drop_unused(interface);
}

/* A service that is not there may be started once for each who wants to know. */
static void property_ask(Property *property) {
        const Interface *interface = property->userdata;

        if (!property->may_start && !name_owner(&interface->owner)) {
                property_absent(property);
                return;
        }

        property->state = PROPERTY_ASKED;
        property_get(property);
}

static void on_ready(void *userdata) {
        Interface *interface = userdata;

        interface->n_ready++;
        if (!interface_is_ready(interface))
                return;

        interface->had_owner = name_owner(&interface->owner);
        interface_foreach(interface, property_ask);
}

static void on_owner(void *userdata) {
        Interface *interface = userdata;
        bool had_owner = interface->had_owner;

        /* Of a bus that is lost, see below. */
        if (!interface_is_ready(interface) || name_state(&interface->owner) == NAME_UNKNOWN)
                return;

        interface->had_owner = name_owner(&interface->owner);
        if (!interface->had_owner)
                interface_foreach(interface, property_absent);
        else
                interface_foreach(interface, had_owner ? property_get : property_get_unless_asked);
}

static void on_lost(Connection *connection, void *userdata) {
        Interface *interface = userdata;

        interface->n_ready = 0;
        interface->had_owner = false;
        interface_foreach(interface, property_lost);
}

static bool property_is_wanted(const char *name, void *userdata) {
        const Interface *interface = userdata;

        return g_hash_table_contains(interface->properties, name);
}

static int property_changed(const char *name, sd_bus_message *message, void *userdata) {
        const Interface *interface = userdata;

        return property_read(g_hash_table_lookup(interface->properties, name), message);
}

static void property_invalidated(const char *name, void *userdata) {
        const Interface *interface = userdata;

        property_invalidate(g_hash_table_lookup(interface->properties, name));
}

static void on_changed(sd_bus_message *message, void *userdata) {
        static const PropertyHandler handler = {
                .wanted = property_is_wanted,
                .changed = property_changed,
                .invalidated = property_invalidated,
        };
        Interface *interface = userdata;

        if (!interface_is_ready(interface))
                return;

        interface->n_kept++;
        if (properties_changed_read(message, &handler, interface) < 0)
                interface_foreach(interface, property_invalidate);
        interface->n_kept--;
        interface_drop_unused(interface);
}

static void on_object(sd_bus_message *message, void *userdata) {
        Interface *interface = userdata;

        if (!interface_is_ready(interface))
                return;

        if (sd_bus_message_is_signal(message, NULL, "InterfacesAdded") > 0) {
                if (interfaces_added_has(message, interface->name))
                        interface_foreach(interface, property_invalidate);
        } else if (sd_bus_message_is_signal(message, NULL, "InterfacesRemoved") > 0) {
                if (interfaces_removed_has(message, interface->name))
                        interface_foreach(interface, property_gone);
        }
}

static void interface_listen(Interface *interface) {
        static const ListenerCallbacks callbacks = { .lost = on_lost };
        Connection *connection = interface->all->connection;
        SignalPattern changes = {
                .sender = interface->destination,
                .path = interface->path,
                .interface = PROPERTIES_INTERFACE,
                .member = "PropertiesChanged",
                .arg = interface->name,
        };
        SignalPattern object = {
                .sender = interface->destination,
                .interface = OBJECT_MANAGER_INTERFACE,
                .arg = interface->path,
                .arg_is_path = true,
        };

        interface->listener = connection_listen(connection, &callbacks, interface);
        interface->changes = connection_match(connection, &changes, on_changed, on_ready, interface);
        interface->object = connection_match(connection, &object, on_object, on_ready, interface);
        interface->owner.follower = (Follower){ .changed = on_owner, .userdata = interface };
        name_use(connection_names(connection), &interface->owner, interface->destination);
}

static Interface *interface_get(Properties *all, const PropertyAddress *address) {
        g_autofree char *key = g_strjoin(" ", address->destination, address->path, address->interface, NULL);
        Interface *interface = g_hash_table_lookup(all->interfaces, key);

        if (interface)
                return interface;

        interface = g_new0(Interface, 1);
        interface->all = all;
        interface->key = g_steal_pointer(&key);
        interface->destination = g_strdup(address->destination);
        interface->path = g_strdup(address->path);
        interface->name = g_strdup(address->interface);
        interface->properties = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) property_free);
        g_hash_table_insert(all->interfaces, interface->key, interface);
        interface_listen(interface);
        return interface;
}

static void on_unused(Property *property) {
        Interface *interface = property->userdata;

        g_hash_table_remove(interface->properties, property->address.property);
        interface_drop_unused(interface);
}

static Property *interface_property(Interface *interface, const char *name) {
        PropertyAddress address = { interface->destination, interface->path, interface->name, name };
        Property *property = g_hash_table_lookup(interface->properties, name);

        if (property)
                return property;

        property = property_new(interface->all->connection, &address, on_unused, interface);
        g_hash_table_insert(interface->properties, (char *) property->address.property, property);
        return property;
}

Properties *properties_new(Connection *connection) {
        Properties *properties = g_new0(Properties, 1);

        properties->connection = connection;
        properties->interfaces = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, interface_free);
        return properties;
}

static PropertyWatch *watch_of(Follower *follower) {
        return (PropertyWatch *) follower;
}

static void property_disown(void *name, void *p, void *userdata) {
        Property *property = p;

        for (GList *i = property->audience.followers.head; i; i = i->next)
                watch_of(i->data)->property = NULL;
}

void properties_free(Properties *properties) {
        GHashTableIter iterator;
        void *interface;

        if (!properties)
                return;

        g_hash_table_iter_init(&iterator, properties->interfaces);
        while (g_hash_table_iter_next(&iterator, NULL, &interface))
                g_hash_table_foreach(((Interface *) interface)->properties, property_disown, NULL);

        g_hash_table_unref(properties->interfaces);
        g_free(properties);
}

PropertyWatch *property_watch_new(Connection *connection, const PropertyAddress *address,
                                  void (*changed)(void *userdata), void *userdata) {
        Interface *interface = interface_get(connection_properties(connection), address);
        Property *property = interface_property(interface, address->property);
        PropertyWatch *watch = g_new0(PropertyWatch, 1);

        watch->property = property;
        watch->follower = (Follower){ .changed = changed, .userdata = userdata };
        audience_join(&property->audience, &watch->follower);

        if (property->state == PROPERTY_KNOWN || property->get)
                return watch;

        property->may_start = true;
        if (interface_is_ready(interface))
                property_ask(property);
        return watch;
}

void property_watch_free(PropertyWatch *watch) {
        Property *property;

        if (!watch)
                return;

        property = watch->property;
        if (property) {
                audience_leave(&property->audience, &watch->follower);
                property_drop_unused(property);
        }
        g_free(watch);
}

PropertyState property_watch_state(const PropertyWatch *watch) {
        return watch->property->state;
}

json_object *property_watch_value(const PropertyWatch *watch) {
        return watch->property->value;
}

const PropertyProblem *property_watch_problem(const PropertyWatch *watch) {
        return &watch->property->problem;
}
