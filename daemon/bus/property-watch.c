/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * When the bus has confirmed the matches, the value is asked for, and from then on signals tell.
 *
 * The bus routes signals by the well-known name of their sender, but what it has routed for one match is seen by
 * all, so the unique name of the owner is kept and compared. A signal with the value makes a Get that is on its
 * way stale. Before the owner is known, no Get has reached it: then the Get's reply is newer than any signal.
 */

#include <stdbool.h>

#include "basic/cleanup.h"
#include "bus/property-watch.h"
#include "bus/value.h"

#define DRIVER "org.freedesktop.DBus"
#define DRIVER_PATH "/org/freedesktop/DBus"
#define PROPERTIES "org.freedesktop.DBus.Properties"
#define OBJECT_MANAGER "org.freedesktop.DBus.ObjectManager"

typedef enum Watched {
        WATCHED_OWNER,
        WATCHED_CHANGES,
        WATCHED_OBJECT,
        WATCHED_MAX_,
} Watched;

struct PropertyWatch {
        Connection *connection;
        PropertyAddress address;
        const PropertyCallbacks *callbacks;
        void *userdata;
        Listener *listener;
        Match *matches[WATCHED_MAX_];
        unsigned n_ready; /* of the matches */
        Call *get_owner, *get;
        char *owner; /* its unique name; NULL: not known, or there is none */
        bool asked;  /* for the first time, so a service that goes is not started again */
};

/* The watch may be gone after each of these. */
static void watch_known(PropertyWatch *watch, json_object *value) {
        watch->callbacks->known(value, watch->userdata);
}

G_GNUC_PRINTF(2, 3)
static void watch_unknown(PropertyWatch *watch, const char *format, ...) {
        g_autofree char *reason = NULL;
        va_list args;

        va_start(args, format);
        reason = g_strdup_vprintf(format, args);
        va_end(args);

        watch->callbacks->unknown(reason, watch->userdata);
}

static void watch_absent(PropertyWatch *watch) {
        watch_unknown(watch, "%s is not on the bus", watch->address.destination);
}

static void watch_unreadable(PropertyWatch *watch, const char *reason) {
        watch_unknown(watch, "%s cannot be read: %s", watch->address.property, reason);
}

static void on_value(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        PropertyWatch *watch = userdata;
        g_autoptr(json_object) value = NULL;
        g_autofree char *problem = NULL;

        g_clear_pointer(&watch->get, call_free);

        if (!error && value_read_one(reply, &value, &problem) >= 0) {
                watch_known(watch, value);
                return;
        }

        if (sd_bus_error_has_names(error, SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                watch_absent(watch);
                return;
        }

        if (error)
                problem = g_strdup_printf("%s: %s", error->name, error->message ? error->message : "no reason given");
        watch_unreadable(watch, problem);
}

static void watch_get(PropertyWatch *watch) {
        const PropertyAddress *address = &watch->address;
        g_autoptr(sd_bus_message) message = NULL;
        int r = sd_bus_message_new_method_call(connection_bus(watch->connection), &message, address->destination,
                                               address->path, PROPERTIES, "Get");

        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, !watch->asked);
        if (r >= 0)
                r = sd_bus_message_append(message, "ss", address->interface, address->property);
        if (r < 0) {
                watch_unreadable(watch, g_strerror(-r));
                return;
        }

        call_free(watch->get);
        watch->get = connection_call(watch->connection, message, on_value, watch);
        watch->asked = true;
}

static void watch_set_owner(PropertyWatch *watch, const char *owner) {
        g_free(watch->owner);
        watch->owner = owner && *owner ? g_strdup(owner) : NULL;
}

static void on_owner(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        PropertyWatch *watch = userdata;
        const char *owner = NULL;

        if (reply && sd_bus_message_read(reply, "s", &owner) < 0)
                owner = NULL;
        watch_set_owner(watch, owner);
        g_clear_pointer(&watch->get_owner, call_free);
}

static void watch_ask(PropertyWatch *watch) {
        g_autoptr(sd_bus_message) message = NULL;
        int r = sd_bus_message_new_method_call(connection_bus(watch->connection), &message, DRIVER, DRIVER_PATH, DRIVER,
                                               "GetNameOwner");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", watch->address.destination);
        if (r < 0) {
                watch_unreadable(watch, g_strerror(-r));
                return;
        }

        call_free(watch->get_owner);
        watch->get_owner = connection_call(watch->connection, message, on_owner, watch);
        watch_get(watch);
}

/* A Get that is on its way to nobody yet will reach the new owner: the bus is starting it. */
static void on_owner_changed(sd_bus_message *message, void *userdata) {
        PropertyWatch *watch = userdata;
        const char *old, *new;

        if (g_strcmp0(sd_bus_message_get_sender(message), DRIVER) != 0 ||
            sd_bus_message_read(message, "sss", NULL, &old, &new) < 0)
                return;

        watch_set_owner(watch, new);
        if (!*new) {
                g_clear_pointer(&watch->get, call_free);
                watch_absent(watch);
        } else if (*old || !watch->get)
                watch_get(watch);
}

static bool from_owner(const PropertyWatch *watch, sd_bus_message *message) {
        return watch->owner && g_strcmp0(sd_bus_message_get_sender(message), watch->owner) == 0;
}

/* Looks for the property in an a{sv}: 1 when it is there, its value to be read next; else 0, and the array is left. */
static int find_property(sd_bus_message *message, const char *property) {
        int r = sd_bus_message_enter_container(message, 'a', "{sv}");

        if (r < 0)
                return r;

        while ((r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
                const char *name;

                r = sd_bus_message_read(message, "s", &name);
                if (r < 0)
                        return r;
                if (g_str_equal(name, property))
                        return 1;

                r = sd_bus_message_skip(message, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(message);
                if (r < 0)
                        return r;
        }

        if (r >= 0)
                r = sd_bus_message_exit_container(message);
        return MIN(r, 0);
}

/* Looks for the word in an array of strings that is to be read next. */
static bool find_word(sd_bus_message *message, const char *word) {
        const char *found;

        if (sd_bus_message_enter_container(message, 'a', "s") < 0)
                return false;
        while (sd_bus_message_read(message, "s", &found) > 0)
                if (g_str_equal(found, word))
                        return true;
        return false;
}

static void on_changed(sd_bus_message *message, void *userdata) {
        PropertyWatch *watch = userdata;
        g_autoptr(json_object) value = NULL;
        g_autofree char *problem = NULL;
        int r;

        if (!from_owner(watch, message) || sd_bus_message_skip(message, "s") < 0)
                return;

        r = find_property(message, watch->address.property);
        if (r == 0 && find_word(message, watch->address.property))
                watch_get(watch);
        if (r <= 0)
                return;

        g_clear_pointer(&watch->get, call_free);
        if (value_read_one(message, &value, &problem) < 0)
                watch_unreadable(watch, problem);
        else
                watch_known(watch, value);
}

/* Does a message InterfacesAdded say that the interface is there? */
static bool find_interface(sd_bus_message *message, const char *interface) {
        const char *name;

        if (sd_bus_message_enter_container(message, 'a', "{sa{sv}}") < 0)
                return false;

        while (sd_bus_message_enter_container(message, 'e', "sa{sv}") > 0) {
                if (sd_bus_message_read(message, "s", &name) < 0)
                        return false;
                if (g_str_equal(name, interface))
                        return true;
                if (sd_bus_message_skip(message, "a{sv}") < 0 || sd_bus_message_exit_container(message) < 0)
                        return false;
        }
        return false;
}

static void on_object_changed(sd_bus_message *message, void *userdata) {
        PropertyWatch *watch = userdata;
        const PropertyAddress *address = &watch->address;
        const char *path;

        if (!from_owner(watch, message) || sd_bus_message_read(message, "o", &path) < 0 ||
            !g_str_equal(path, address->path))
                return;

        if (sd_bus_message_is_signal(message, NULL, "InterfacesAdded") > 0) {
                if (find_interface(message, address->interface))
                        watch_get(watch);
        } else if (sd_bus_message_is_signal(message, NULL, "InterfacesRemoved") > 0 &&
                   find_word(message, address->interface)) {
                g_clear_pointer(&watch->get, call_free);
                watch_unknown(watch, "%s of %s is gone", address->interface, address->path);
        }
}

static void on_match_ready(void *userdata) {
        PropertyWatch *watch = userdata;

        if (++watch->n_ready == WATCHED_MAX_)
                watch_ask(watch);
}

static void on_lost(Connection *connection, void *userdata) {
        PropertyWatch *watch = userdata;

        watch->n_ready = 0;
        watch_set_owner(watch, NULL);
        g_clear_pointer(&watch->get_owner, call_free);
        g_clear_pointer(&watch->get, call_free);
        watch_unknown(watch, "the connection to the bus '%s' was lost", connection_name(connection));
}

static const ListenerCallbacks listener_callbacks = {
        .lost = on_lost,
};

static void watch_match(PropertyWatch *watch, Watched what, MatchSignal signal, const SignalPattern *pattern) {
        watch->matches[what] = connection_match(watch->connection, pattern, signal, on_match_ready, watch);
}

PropertyWatch *property_watch_new(Connection *connection, const PropertyAddress *address,
                                  const PropertyCallbacks *callbacks, void *userdata) {
        SignalPattern owner = signal_pattern_owner(address->destination);
        SignalPattern changes = {
                .sender = address->destination,
                .path = address->path,
                .interface = PROPERTIES,
                .member = "PropertiesChanged",
                .arg = address->interface,
        };
        SignalPattern object = {
                .sender = address->destination,
                .interface = OBJECT_MANAGER,
                .arg = address->path,
                .arg_is_path = true,
        };
        PropertyWatch *watch = g_new0(PropertyWatch, 1);

        watch->connection = connection;
        watch->address = *address;
        watch->callbacks = callbacks;
        watch->userdata = userdata;

        watch->listener = connection_listen(connection, &listener_callbacks, watch);
        watch_match(watch, WATCHED_OWNER, on_owner_changed, &owner);
        watch_match(watch, WATCHED_CHANGES, on_changed, &changes);
        watch_match(watch, WATCHED_OBJECT, on_object_changed, &object);
        return watch;
}

void property_watch_free(PropertyWatch *watch) {
        if (!watch)
                return;

        call_free(watch->get_owner);
        call_free(watch->get);
        for (unsigned i = 0; i < WATCHED_MAX_; i++)
                match_free(watch->matches[i]);
        listener_free(watch->listener);
        g_free(watch->owner);
        g_free(watch);
}
