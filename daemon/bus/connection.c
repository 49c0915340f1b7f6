/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Establishes a connection, and again when it is lost, and tells the listeners. bus/calls.c, bus/rules.c, bus/names.c
 * and bus/matches.c use it while it is established.
 */

#include <errno.h>
#include <stdbool.h>

#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/calls.h"
#include "bus/connection.h"
#include "bus/matches.h"
#include "bus/names.h"
#include "bus/property-watch.h"
#include "bus/rules.h"

#define RETRY_MSEC_MIN 100u
#define RETRY_MSEC_MAX 10000u

struct Connection {
        GMainContext *context;
        char *name, *address;
        sd_bus *bus;
        GSource *source; /* of the bus, while it is open */
        GSource *retry;  /* while it is not */
        unsigned retry_msec;
        uint64_t patience; /* see connection_pace(); 0: it is not paced */
        bool ready;        /* the bus has replied to Hello */
        bool was_stuck;    /* the previous connection, see connection_was_stuck() */
        bool warned;       /* that the bus cannot be reached */
        Calls *calls;
        Rules *rules;
        Names *names;
        Matches *matches;
        Properties *properties;
        GData *kept;
        GQueue listeners;
        GList *next_listener; /* the one to be called next; if it is freed, this moves to the one after it */
        bool untold;          /* some listener must still be called */
};

struct Listener {
        Connection *connection;
        GList link;
        const ListenerCallbacks *callbacks;
        void *userdata;
        bool connected; /* as of the last callback */
};

/* Calls the listeners that do not know the present state yet. */
static void listeners_tell(Connection *connection) {
        bool connected = connection->ready;

        connection->untold = false;
        connection->next_listener = connection->listeners.head;
        while (connection->next_listener) {
                Listener *listener = connection->next_listener->data;
                void (*tell)(Connection *, void *);

                connection->next_listener = connection->next_listener->next;
                if (listener->connected == connected)
                        continue;

                listener->connected = connected;
                tell = connected ? listener->callbacks->connected : listener->callbacks->lost;
                if (tell)
                        tell(connection, listener->userdata);
        }
}

/* Rules before calls, so that no signal is missed that a waiting call causes. */
static void connection_came(Connection *connection) {
        if (connection->warned)
                log_notice("bus '%s': connected", connection->name);
        connection->warned = false;
        connection->ready = true;
        connection->retry_msec = RETRY_MSEC_MIN;

        matches_attach(connection->matches, connection->source);
        rules_attach(connection->rules, connection->bus, connection->source);
        names_attach(connection->names, connection->bus);
        listeners_tell(connection);
        calls_attach(connection->calls, connection->bus, connection->source);
}

static void connection_open(Connection *connection);

static gboolean on_retry(void *userdata) {
        Connection *connection = userdata;

        g_clear_pointer(&connection->retry, g_source_unref);
        connection_open(connection);
        return G_SOURCE_REMOVE;
}

static void connection_retry_later(Connection *connection, int error) {
        if (!connection->warned)
                log_warning("bus '%s': %s, trying again until it is there: %s", connection->name,
                            connection->ready ? "connection lost" : "cannot connect", g_strerror(-error));
        connection->warned = true;

        connection->retry = g_timeout_source_new(connection->retry_msec);
        g_source_set_callback(connection->retry, on_retry, connection, NULL);
        g_source_attach(connection->retry, connection->context);
        connection->retry_msec = MIN(connection->retry_msec * 2, RETRY_MSEC_MAX);
}

static void source_drop(GSource **source) {
        if (!*source)
                return;

        g_source_destroy(*source);
        g_clear_pointer(source, g_source_unref);
}

static void connection_lost(Connection *connection) {
        int error = bus_source_error(connection->source);

        connection_retry_later(connection, error);
        source_drop(&connection->source);
        if (!connection->ready)
                return;

        connection->ready = false;
        connection->was_stuck = error == -ETIMEDOUT;
        rules_detach(connection->rules);
        matches_detach(connection->matches);
        calls_detach(connection->calls);
        names_detach(connection->names);
        listeners_tell(connection);
}

static gboolean on_bus(void *userdata) {
        Connection *connection = userdata;

        if (sd_bus_is_open(connection->bus) <= 0) {
                connection_lost(connection);
                return G_SOURCE_REMOVE;
        }

        if (!connection->ready && sd_bus_is_ready(connection->bus) > 0)
                connection_came(connection);
        if (connection->ready) {
                if (connection->untold)
                        listeners_tell(connection);
                rules_settle(connection->rules);
                matches_settle(connection->matches);
                calls_settle(connection->calls);
        }
        return G_SOURCE_CONTINUE;
}

/* sd-bus could dispatch signals itself, but it would visit all senders of all matches. */
static int on_message(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Connection *connection = userdata;
        uint8_t type;

        if (connection->ready && sd_bus_message_get_type(message, &type) >= 0 && type == SD_BUS_MESSAGE_SIGNAL) {
                names_dispatch(connection->names, message);
                matches_dispatch(connection->matches, message);
        }
        return 0;
}

/* If the bus cannot be started, it is closed, and treated like one that was lost at once. */
static void connection_open(Connection *connection) {
        sd_bus *bus = NULL;
        int r = sd_bus_new(&bus);

        if (r >= 0)
                r = sd_bus_set_description(bus, connection->name);
        if (r >= 0)
                r = sd_bus_set_address(bus, connection->address);
        if (r >= 0)
                r = sd_bus_set_bus_client(bus, true);
        if (r >= 0)
                r = sd_bus_add_filter(bus, NULL, on_message, connection);
        if (r < 0)
                g_error("cannot make a bus: %s", g_strerror(-r)); /* out of memory, as with g_new() */

        r = sd_bus_start(bus);
        sd_bus_close_unref(connection->bus);
        connection->bus = bus;
        if (r < 0) {
                connection_retry_later(connection, r);
                return;
        }

        connection->source = bus_source_new(connection->bus);
        bus_source_pace(connection->source, connection->patience);
        g_source_set_callback(connection->source, on_bus, connection, NULL);
        g_source_attach(connection->source, connection->context);
}

Connection *connection_new(GMainContext *context, const char *name, const char *address) {
        Connection *connection = g_new0(Connection, 1);

        connection->context = context;
        connection->name = g_strdup(name);
        connection->address = g_strdup(address);
        connection->retry_msec = RETRY_MSEC_MIN;
        connection->calls = calls_new(connection->name);
        connection->rules = rules_new(connection->name);
        connection->names = names_new(connection->rules);
        connection->matches = matches_new(connection->rules, connection->names);
        connection->properties = properties_new(connection);

        connection_open(connection);
        return connection;
}

Connection *connection_again(const Connection *connection) {
        return connection_new(connection->context, connection->name, connection->address);
}

void connection_pace(Connection *connection, uint64_t patience_usec) {
        connection->patience = patience_usec;
        if (connection->source)
                bus_source_pace(connection->source, patience_usec);
}

bool connection_was_stuck(const Connection *connection) {
        return connection->was_stuck;
}

void connection_free(Connection *connection) {
        if (!connection)
                return;

        for (GList *i = connection->listeners.head; i; i = i->next)
                ((Listener *) i->data)->connection = NULL;
        g_datalist_clear(&connection->kept);
        properties_free(connection->properties);
        rules_detach(connection->rules);
        matches_free(connection->matches);
        names_free(connection->names);
        rules_free(connection->rules);
        calls_free(connection->calls);

        source_drop(&connection->retry);
        source_drop(&connection->source);
        sd_bus_close_unref(connection->bus);
        g_free(connection->address);
        g_free(connection->name);
        g_free(connection);
}

const char *connection_name(const Connection *connection) {
        return connection->name;
}

sd_bus *connection_bus(Connection *connection) {
        return connection->bus;
}

bool connection_is_ready(const Connection *connection) {
        return connection->ready;
}

char *connection_bus_id(Connection *connection) {
        char text[SD_ID128_STRING_MAX] = "";
        sd_id128_t id;

        if (sd_bus_get_bus_id(connection->bus, &id) >= 0)
                sd_id128_to_string(id, text);

        return g_strdup(text);
}

Call *connection_call(Connection *connection, sd_bus_message *message, CallDone done, void *userdata) {
        const char *destination = sd_bus_message_get_destination(message);

        return calls_add(connection->calls, CALL_PLAIN, destination, message, NULL, NULL, done, userdata);
}

Call *connection_ask(Connection *connection, sd_bus_message *message, CallDone done, void *userdata) {
        const char *destination = sd_bus_message_get_destination(message);

        return calls_add(connection->calls, CALL_QUERY, destination, message, NULL, NULL, done, userdata);
}

Call *connection_call_told(Connection *connection, sd_bus_message *message, CallSending sending, CallDone done,
                           void *userdata) {
        const char *destination = sd_bus_message_get_destination(message);

        return calls_add(connection->calls, CALL_PATIENT, destination, message, NULL, sending, done, userdata);
}

Call *connection_call_made(Connection *connection, const char *destination, CallMake make, CallDone done,
                           void *userdata) {
        return calls_add(connection->calls, CALL_PLAIN, destination, NULL, make, NULL, done, userdata);
}

void connection_set_away(Connection *connection, const char *destination, bool away) {
        calls_set_away(connection->calls, destination, away);
}

void connection_set_data(Connection *connection, const char *name, void *data, GDestroyNotify free) {
        g_datalist_set_data_full(&connection->kept, name, data, free);
}

void *connection_data(Connection *connection, const char *name) {
        return g_datalist_get_data(&connection->kept, name);
}

GMainContext *connection_context(const Connection *connection) {
        return connection->context;
}

Match *connection_match(Connection *connection, const SignalPattern *pattern, MatchSignal signal, MatchReady ready,
                        void *userdata) {
        return matches_add(connection->matches, pattern, signal, ready, userdata);
}

Names *connection_names(Connection *connection) {
        return connection->names;
}

Properties *connection_properties(Connection *connection) {
        return connection->properties;
}

Listener *connection_listen(Connection *connection, const ListenerCallbacks *callbacks, void *userdata) {
        Listener *listener = g_new0(Listener, 1);

        listener->connection = connection;
        listener->link.data = listener;
        listener->callbacks = callbacks;
        listener->userdata = userdata;

        g_queue_push_tail_link(&connection->listeners, &listener->link);
        connection->untold = true;
        if (connection->ready)
                bus_source_wake(connection->source, 0);
        return listener;
}

void listener_free(Listener *listener) {
        Connection *connection;

        if (!listener)
                return;

        connection = listener->connection;
        if (connection) {
                if (connection->next_listener == &listener->link)
                        connection->next_listener = listener->link.next;
                g_queue_unlink(&connection->listeners, &listener->link);
        }
        g_free(listener);
}
