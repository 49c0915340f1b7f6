/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Follows the values of properties. When the bus has confirmed the matches and named the owner of the service, the
 * values are asked for; from then on signals report changes. A callback may free watches, so a Property or Interface is
 * kept while its callbacks run.
 *
 * A service may answer at any time, so a later message need not be newer. When a signal has brought a value, the answer
 * to an older question is dropped. When a signal has only reported that the value changed, the answer is dropped, too,
 * and the question is asked again; but not twice in a row, or a value that changes faster than it can be asked for
 * would never be known. If the answer to a question is late, the value is unknown until there is an answer or a signal:
 * a value that is in question proves nothing.
 *
 * The introspection data of the object, which can be large, is read only if somebody asks how its changes are
 * signalled.
 */

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "basic/audience.h"
#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/foreach.h"
#include "bus/names.h"
#include "bus/property-watch.h"

#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER_INTERFACE "org.freedesktop.DBus.ObjectManager"

/* The name under which a connection keeps its Properties. */
#define KEPT "properties"

/* The state that all watches of a connection share. */
typedef struct Properties {
        Connection *connection;
        Timers *timers;
        GHashTable *interfaces; /* by their keys */
} Properties;

#define N_MATCHES 2u

/* The maximum length of introspection data. */
#define XML_MAX (256u * 1024)

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
        unsigned n_kept;        /* must not be freed while this is not 0 */
        Call *introspect;       /* the query in flight */
} Interface;

/* One property that is watched: its value, or why it has none, and the query for it. */
typedef struct Property {
        Interface *interface;
        char *name;

        PropertyState state;
        json_object *value;
        PropertyProblem problem;
        Call *get;      /* the query in flight */
        Timer *limit;   /* until the value that is asked for, or that is to be asked for, is late; NULL: it is */
        bool may_start; /* it may start the service */
        bool stale;     /* its reply may be outdated */
        bool moot;      /* its reply is outdated */
        bool passed;    /* the last reply was dropped, since it was stale */
        PropertySignals signals;
        Audience audience;
        bool kept; /* must not be freed yet, even without watches */
} Property;

struct PropertyWatch {
        Follower follower;  /* first: a Follower is its PropertyWatch */
        Property *property; /* NULL: the connection was freed */
        bool fresh;         /* the property was read, or signalled, since the watch was made */
};

static PropertyWatch *watch_of(Follower *follower) {
        return (PropertyWatch *) follower;
}

static void problem_clear(PropertyProblem *problem) {
        g_free(problem->text);
        sd_bus_error_free(&problem->error);
        *problem = (PropertyProblem){ 0 };
}

static void property_free(void *p) {
        Property *property = p;

        call_free(property->get);
        timer_free(property->limit);
        json_object_put(property->value);
        problem_clear(&property->problem);
        g_free(property->name);
        g_free(property);
}

static void interface_free(void *p) {
        Interface *interface = p;

        g_hash_table_unref(interface->properties);
        call_free(interface->introspect);
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

/* The interface may be freed with it. */
static void property_drop_unused(Property *property) {
        Interface *interface = property->interface;

        if (!audience_is_unused(&property->audience) || property->kept)
                return;

        g_hash_table_remove(interface->properties, property->name);
        interface_drop_unused(interface);
}

/* All of them know the value from now on. True: some did not. */
static bool property_refresh(Property *property) {
        bool news = false;

        for (GList *i = property->audience.followers.head; i; i = i->next) {
                news |= !watch_of(i->data)->fresh;
                watch_of(i->data)->fresh = true;
        }
        return news;
}

static void property_notify(Property *property) {
        audience_tell(&property->audience);
        property_drop_unused(property);
}

/* Takes the value. */
static void property_set(Property *property, json_object *value) {
        g_autoptr(json_object) old = property->value;
        bool same = property->state == PROPERTY_KNOWN && value_equal(old, value);

        property->state = PROPERTY_KNOWN;
        property->value = value;
        property->may_start = false;
        if (property_refresh(property) || !same)
                property_notify(property);
}

/* Takes the contents of the problem. */
static void property_set_unknown(Property *property, PropertyProblem problem) {
        g_clear_pointer(&property->value, json_object_put);
        problem_clear(&property->problem);

        property->state = PROPERTY_UNKNOWN;
        property->problem = problem;
        if (!problem.lost && problem.text)
                property->may_start = false;
        (void) property_refresh(property);
        property_notify(property);
}

static void property_unreadable(Property *property, const char *reason) {
        property_set_unknown(property, (PropertyProblem){ .text = g_strdup_printf("%s cannot be read: %s",
                                                                                  property->name, reason) });
}

static PropertyProblem absence(const Property *property) {
        return (PropertyProblem){ .text = g_strdup_printf("%s is not on the bus", property->interface->destination) };
}

/* Drops the query: it will get no reply. */
static void property_forget(Property *property, PropertyProblem problem) {
        g_clear_pointer(&property->get, call_free);
        g_clear_pointer(&property->limit, timer_free);
        property_set_unknown(property, problem);
}

static void property_absent(Property *property) {
        property_forget(property, absence(property));
}

static void property_gone(Property *property) {
        const Interface *interface = property->interface;

        property_forget(property, (PropertyProblem){ .text = g_strdup_printf("%s of %s no longer exists",
                                                                             interface->name, interface->path) });
}

static void property_lost(Property *property) {
        property_forget(property, (PropertyProblem){ .text = connection_problem(property->interface->all->connection),
                                                     .lost = true });
}

/* A value that a signal has brought meanwhile needs no answer. */
static void on_late(void *userdata) {
        Property *property = userdata;

        g_clear_pointer(&property->limit, timer_free);
        if (!property->moot || property->stale)
                property_set_unknown(property, (PropertyProblem){ 0 });
}

static void property_limit(Property *property) {
        if (!property->limit)
                property->limit = timer_new(property->interface->all->timers, PROPERTY_ANSWER_USEC, on_late, property);
}

static void property_get(Property *property);

static void on_value(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Property *property = userdata;
        bool stale = property->stale, taken = !property->moot && (!stale || property->passed);
        g_autoptr(json_object) value = NULL;
        g_autofree char *problem = NULL;
        PropertyProblem failure = { 0 };

        g_clear_pointer(&property->get, call_free);
        g_clear_pointer(&property->limit, timer_free);
        property->passed = stale && !taken;
        if (stale)
                property_get(property);
        if (!taken)
                return;

        if (error && sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                property_set_unknown(property, absence(property));
        } else if (error) {
                failure.text = g_strdup_printf("%s cannot be read: %s: %s", property->name, error->name,
                                               error->message ?: "no reason given");
                sd_bus_error_copy(&failure.error, error);
                property_set_unknown(property, failure);
        } else if (!sd_bus_message_has_signature(reply, "v")) {
                problem = g_strdup_printf("the reply is of type \"%s\", not \"v\"",
                                          sd_bus_message_get_signature(reply, true));
                property_unreadable(property, problem);
        } else if (value_read_one(reply, VALUE_ROOM_MAX, &value, &problem) < 0) {
                property_unreadable(property, problem);
        } else {
                property_set(property, g_steal_pointer(&value));
        }
}

static int make_get(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        const Property *property = userdata;
        const Interface *interface = property->interface;
        g_autoptr(sd_bus_message) message = NULL;
        int r = sd_bus_message_new_method_call(bus, &message, interface->destination, interface->path,
                                               PROPERTIES_INTERFACE, "Get");

        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, property->may_start);
        if (r >= 0)
                r = sd_bus_message_append(message, "ss", interface->name, property->name);
        if (r < 0)
                return r;

        *ret_message = g_steal_pointer(&message);
        return 0;
}

static void property_get(Property *property) {
        call_free(property->get);
        property_limit(property);
        property->stale = property->moot = false;
        property->get = connection_call_made(property->interface->all->connection, property->interface->destination,
                                             make_get, on_value, property);
}

/* A service that has not answered in time may have lost the question. */
static bool property_is_asked(const Property *property) {
        return property->get && property->limit;
}

static void property_get_unless_asked(Property *property) {
        if (!property_is_asked(property))
                property_get(property);
}

static void property_invalidate(Property *property) {
        if (property_is_asked(property))
                property->stale = true;
        else
                property_get(property);
}

static bool interface_is_ready(const Interface *interface) {
        return interface->n_ready == N_MATCHES;
}

/* Calls the function for each property. Properties, and then the interface, may be freed by it. */
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

/* How far the introspection data was read. */
typedef struct Reader {
        Interface *interface;
        unsigned depth;
        bool inside;                /* the interface */
        PropertySignals by_default; /* of the interface */
        Property *property;         /* or NULL */
} Reader;

static PropertySignals signals_of(const char *text) {
        return g_strcmp0(text, "false") == 0   ? SIGNALS_NEVER
               : g_strcmp0(text, "const") == 0 ? SIGNALS_CONST
                                               : SIGNALS_CHANGES;
}

static const char *attribute(const char **names, const char **values, const char *name) {
        for (size_t i = 0; names[i]; i++)
                if (g_str_equal(names[i], name))
                        return values[i];
        return NULL;
}

/* The depth of an element: node 1, interface 2, property or annotation of the interface 3, its annotation 4. */
static void on_element(GMarkupParseContext *context, const char *element, const char **names, const char **values,
                       void *userdata, GError **ret_error) {
        const char *name = attribute(names, values, "name");
        Reader *reader = userdata;

        reader->depth++;
        if (reader->depth == 2) {
                reader->inside = g_str_equal(element, "interface") && g_strcmp0(name, reader->interface->name) == 0;
                return;
        }
        if (!reader->inside || !name)
                return;

        if (reader->depth == 3 && g_str_equal(element, "property"))
                reader->property = g_hash_table_lookup(reader->interface->properties, name);
        else if (g_str_equal(element, "annotation") &&
                 g_str_equal(name, "org.freedesktop.DBus.Property.EmitsChangedSignal")) {
                if (reader->depth == 3)
                        reader->by_default = signals_of(attribute(names, values, "value"));
                else if (reader->property)
                        reader->property->signals = signals_of(attribute(names, values, "value"));
        }
}

static void on_element_end(GMarkupParseContext *context, const char *element, void *userdata, GError **ret_error) {
        Reader *reader = userdata;

        reader->depth--;
        if (reader->depth == 2)
                reader->property = NULL;
        else if (reader->depth == 1)
                reader->inside = false;
}

static void property_tell_signals(Property *property) {
        if (property->signals == SIGNALS_NEVER || property->signals == SIGNALS_CONST)
                property_notify(property);
}

/* A property that the data does not have is taken for one that changes. */
static void on_introspection(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        static const GMarkupParser parser = { .start_element = on_element, .end_element = on_element_end };
        Interface *interface = userdata;
        Reader reader = { .interface = interface, .by_default = SIGNALS_CHANGES };
        g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, &reader, NULL);
        const char *xml = "";
        Property *property;
        size_t length;

        if (!error)
                (void) sd_bus_message_read(reply, "s", &xml);
        g_clear_pointer(&interface->introspect, call_free);
        length = strnlen(xml, XML_MAX + 1);
        if (length <= XML_MAX)
                (void) g_markup_parse_context_parse(context, xml, (gssize) length, NULL);

        TABLE_FOREACH(property, interface->properties)
                if (property->signals == SIGNALS_UNKNOWN)
                        property->signals = reader.by_default;
        interface_foreach(interface, property_tell_signals);
}

static int make_introspect(sd_bus *bus, sd_bus_message **ret_message, void *userdata) {
        const Interface *interface = userdata;
        int r = sd_bus_message_new_method_call(bus, ret_message, interface->destination, interface->path,
                                               "org.freedesktop.DBus.Introspectable", "Introspect");

        return r < 0 ? r : sd_bus_message_set_auto_start(*ret_message, false);
}

static void property_forget_signals(Property *property) {
        property->signals = SIGNALS_UNKNOWN;
}

/* A missing service may be started once for each watch. */
static void property_ask(Property *property) {
        const Interface *interface = property->interface;

        if (!property->may_start && !name_owner(&interface->owner)) {
                property_absent(property);
                return;
        }

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

        /* on_lost() handles a lost bus. */
        if (!interface_is_ready(interface) || name_state(&interface->owner) == NAME_UNKNOWN)
                return;

        interface->had_owner = name_owner(&interface->owner);
        g_clear_pointer(&interface->introspect, call_free);
        interface->n_kept++;
        interface_foreach(interface, property_forget_signals);
        interface->n_kept--;
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

/* The changed values, then the names of those that are only known to have changed. Nobody has so many properties. */
static int properties_changed_read(sd_bus_message *message, Interface *interface) {
        unsigned n_left = VALUE_SKIPPED_MAX;
        Property *property;
        const char *name;
        int r = sd_bus_message_skip(message, "s");

        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                g_autoptr(json_object) value = NULL;
                g_autofree char *problem = NULL;

                r = sd_bus_message_read(message, "s", &name);
                if (r < 0 || n_left-- == 0)
                        return r < 0 ? r : -E2BIG;

                property = g_hash_table_lookup(interface->properties, name);
                r = property ? value_read_one(message, VALUE_ROOM_MAX, &value, &problem) : value_skip(message);
                if (property && r >= 0) {
                        property->stale = false;
                        property->moot = true;
                        property_set(property, g_steal_pointer(&value));
                } else if (property) {
                        property_unreadable(property, problem);
                }
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
        }

        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        if (r >= 0)
                r = sd_bus_message_enter_container(message, 'a', "s");
        while (r >= 0 && (r = sd_bus_message_read(message, "s", &name)) > 0) {
                if (n_left-- == 0)
                        return -E2BIG;
                property = g_hash_table_lookup(interface->properties, name);
                if (property)
                        property_invalidate(property);
        }
        return r;
}

static void on_changed(sd_bus_message *message, void *userdata) {
        Interface *interface = userdata;

        if (!interface_is_ready(interface))
                return;

        interface->n_kept++;
        if (properties_changed_read(message, interface) < 0)
                interface_foreach(interface, property_invalidate);
        interface->n_kept--;
        interface_drop_unused(interface);
}

/* Does the signal of an ObjectManager name the interface: as a string, or with its properties? */
static bool names_interface(sd_bus_message *message, bool added, const char *interface) {
        unsigned n_left = VALUE_SKIPPED_MAX;
        const char *name;

        if (sd_bus_message_skip(message, "o") < 0 ||
            sd_bus_message_enter_container(message, 'a', added ? "{sa{sv}}" : "s") < 0)
                return false;

        while (n_left-- > 0 && (!added || sd_bus_message_enter_container(message, 'e', "sa{sv}") > 0)) {
                if (sd_bus_message_read(message, "s", &name) <= 0)
                        return false;
                if (g_str_equal(name, interface))
                        return true;
                if (added && (value_skip(message) < 0 || sd_bus_message_exit_container(message) < 0))
                        return false;
        }
        return false;
}

static void on_object(sd_bus_message *message, void *userdata) {
        Interface *interface = userdata;
        bool added = sd_bus_message_is_signal(message, NULL, "InterfacesAdded") > 0,
             removed = sd_bus_message_is_signal(message, NULL, "InterfacesRemoved") > 0;

        if (interface_is_ready(interface) && (added || removed) && names_interface(message, added, interface->name))
                interface_foreach(interface, added ? property_invalidate : property_gone);
}

static Interface *interface_get(Properties *all, const PropertyAddress *address) {
        static const ListenerCallbacks callbacks = { .lost = on_lost };
        g_autofree char *key = g_strjoin(" ", address->destination, address->path, address->interface, NULL);
        Interface *interface = g_hash_table_lookup(all->interfaces, key);
        SignalPattern changes = {
                .sender = address->destination,
                .path = address->path,
                .interface = PROPERTIES_INTERFACE,
                .member = "PropertiesChanged",
                .arg = address->interface,
        };
        SignalPattern object = {
                .sender = address->destination,
                .interface = OBJECT_MANAGER_INTERFACE,
                .arg = address->path,
                .arg_is_path = true,
        };

        if (interface)
                return interface;

        interface = g_new0(Interface, 1);
        interface->all = all;
        interface->key = g_steal_pointer(&key);
        interface->destination = g_strdup(address->destination);
        interface->path = g_strdup(address->path);
        interface->name = g_strdup(address->interface);
        interface->properties = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, property_free);
        g_hash_table_insert(all->interfaces, interface->key, interface);
        interface->listener = connection_listen(all->connection, &callbacks, interface);
        interface->changes = connection_match(all->connection, &changes, on_changed, on_ready, interface);
        interface->object = connection_match(all->connection, &object, on_object, on_ready, interface);
        interface->owner.follower = (Follower){ .changed = on_owner, .userdata = interface };
        name_use(connection_names(all->connection), &interface->owner, interface->destination);
        return interface;
}

/* The watches belong to their owners. */
static void properties_free(void *data) {
        Properties *properties = data;
        Interface *interface;
        Property *property;

        TABLE_FOREACH(interface, properties->interfaces)
                TABLE_FOREACH(property, interface->properties)
                        for (GList *i = property->audience.followers.head; i; i = i->next)
                                watch_of(i->data)->property = NULL;

        g_hash_table_unref(properties->interfaces);
        g_free(properties);
}

PropertyWatch *property_watch_new(Connection *connection, Timers *timers, const PropertyAddress *address,
                                  void (*changed)(void *userdata), void *userdata) {
        Properties *all = connection_data(connection, KEPT);
        PropertyWatch *watch = g_new0(PropertyWatch, 1);
        Interface *interface;
        Property *property;

        if (!all) {
                all = g_new(Properties, 1);
                all->connection = connection;
                all->timers = timers;
                all->interfaces = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, interface_free);
                connection_set_data(connection, KEPT, all, properties_free);
        }
        interface = interface_get(all, address);
        property = g_hash_table_lookup(interface->properties, address->property);
        if (!property) {
                property = g_new0(Property, 1);
                property->interface = interface;
                property->name = g_strdup(address->property);
                g_hash_table_insert(interface->properties, property->name, property);
        }
        watch->property = property;
        watch->follower = (Follower){ .changed = changed, .userdata = userdata };
        audience_join(&property->audience, &watch->follower);

        /* A reply that is still to come is new enough, and so is a value that does not change. */
        watch->fresh = property->signals == SIGNALS_CONST && property->state == PROPERTY_KNOWN && !property->get;
        if (property_is_asked(property) || watch->fresh)
                return watch;

        property->may_start = property->state != PROPERTY_KNOWN;
        if (interface_is_ready(interface))
                property_ask(property);
        else if (connection_error(connection)) {
                problem_clear(&property->problem);
                property->problem = (PropertyProblem){ .text = connection_problem(connection), .lost = true };
                property->state = PROPERTY_UNKNOWN;
                watch->fresh = true;
        } else
                property_limit(property);
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

/* A service that comes is noticed by its name. */
void property_watch_read(PropertyWatch *watch) {
        Property *property = watch->property;

        if (interface_is_ready(property->interface) && name_owner(&property->interface->owner) &&
            !(property->signals == SIGNALS_CONST && property->state == PROPERTY_KNOWN))
                property_get_unless_asked(property);
}

void property_watch_learn(PropertyWatch *watch) {
        Interface *interface = watch->property->interface;

        if (watch->property->signals != SIGNALS_UNKNOWN || interface->introspect || !interface_is_ready(interface) ||
            !name_owner(&interface->owner))
                return;

        interface->introspect = connection_call_made(interface->all->connection, interface->destination,
                                                     make_introspect, on_introspection, interface);
}

PropertySignals property_watch_signals(const PropertyWatch *watch) {
        return watch->property->signals;
}

bool property_watch_is_starting(const PropertyWatch *watch) {
        const Property *property = watch->property;

        return property->get && property->may_start && interface_is_ready(property->interface) &&
               name_state(&property->interface->owner) == NAME_ABSENT;
}

PropertyState property_watch_state(const PropertyWatch *watch) {
        return watch->fresh ? watch->property->state : PROPERTY_ASKED;
}

json_object *property_watch_value(const PropertyWatch *watch) {
        return watch->property->value;
}

const PropertyProblem *property_watch_problem(const PropertyWatch *watch) {
        return &watch->property->problem;
}
