/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Establishes a connection, and again when it is lost, and tells the listeners. bus/calls.c, bus/matches.c and
 * bus/names.c use it while it is established.
 */

#include <errno.h>
#include <stdbool.h>

#include "basic/audience.h"
#include "basic/cleanup.h"
#include "basic/later.h"
#include "basic/log.h"
#include "bus/bus-source.h"
#include "bus/calls.h"
#include "bus/connection.h"
#include "bus/matches.h"
#include "bus/names.h"

#define RETRY_MSEC_MIN 100u
#define RETRY_MSEC_MAX 10000u

/* How long a bus may take to reply to Hello. sd-bus waits 90 s for one that says nothing, and then reports that the
 * connection was reset. */
#define CONNECT_MSEC 25000u

struct Connection {
        GMainContext *context;
        char *name, *address;
        sd_bus *bus;
        GSource *source; /* of the bus, while it is open */
        GSource *limit;  /* until the bus has replied to Hello */
        GSource *retry;  /* while it is not */
        GSource *tell;   /* while a listener must still be told that it is not */
        int error;       /* why it is not; 0: not known yet */
        bool was_ready;  /* when that happened */
        unsigned retry_msec;
        uint64_t patience; /* see connection_pace(); 0: it is not paced */
        bool descriptors;  /* see connection_again() */
        bool ready;        /* the bus has replied to Hello */
        bool was_stuck;    /* the previous connection, see connection_was_stuck() */
        bool warned;       /* that the bus cannot be reached */
        Calls *calls;
        Rules *rules;
        Names *names;
        Matches *matches;
        GData *kept;
        Audience listeners;
        bool untold; /* some listener must still be called */
};

typedef enum Told {
        TOLD_NOTHING,
        TOLD_CONNECTED,
        TOLD_LOST,
} Told;

struct Listener {
        Follower follower; /* first: a Follower is its Listener */
        Connection *connection;
        const ListenerCallbacks *callbacks;
        void *userdata;
        Told told; /* by the last callback */
};

/* Calls the listener, unless it knows the present state. */
static void on_listener_told(void *userdata) {
        Listener *listener = userdata;
        Connection *connection = listener->connection;
        Told state = connection->ready ? TOLD_CONNECTED : connection->error ? TOLD_LOST : TOLD_NOTHING;
        void (*tell)(Connection *, void *) =
                state == TOLD_CONNECTED ? listener->callbacks->connected : listener->callbacks->lost;

        if (listener->told == state || state == TOLD_NOTHING)
                return;

        listener->told = state;
        if (tell)
                tell(connection, listener->userdata);
}

static void listeners_tell(Connection *connection) {
        connection->untold = false;
        audience_tell(&connection->listeners);
}

static void connection_open(Connection *connection);

static gboolean on_retry(void *userdata) {
        Connection *connection = userdata;

        connection->retry = NULL;
        connection_open(connection);
        return G_SOURCE_REMOVE;
}

static gboolean on_tell(void *userdata) {
        Connection *connection = userdata;

        connection->tell = NULL;
        listeners_tell(connection);
        return G_SOURCE_REMOVE;
}

/* Listeners are called from the main loop. */
static void listeners_tell_later(Connection *connection) {
        if (connection->tell)
                return;

        connection->tell = call_later(connection->context, 0, on_tell, connection);
}

static void connection_retry_later(Connection *connection, int error) {
        connection->error = error;
        connection->was_ready = connection->ready;
        if (!connection->warned)
                log_warning("%s bus '%s', trying again until it is there: %s",
                            connection->ready ? "lost the connection to" : "cannot connect to", connection->name,
                            g_strerror(-error));
        connection->warned = true;

        connection->retry = call_later(connection->context, connection->retry_msec, on_retry, connection);
        connection->retry_msec = MIN(connection->retry_msec * 2, RETRY_MSEC_MAX);
        listeners_tell_later(connection);
}

static gboolean on_limit(void *userdata) {
        Connection *connection = userdata;

        connection->limit = NULL;
        g_clear_pointer(&connection->source, g_source_destroy);
        connection_retry_later(connection, -ETIMEDOUT);
        return G_SOURCE_REMOVE;
}

/* Calls in flight fail, waiting calls keep waiting. */
static void connection_lost(Connection *connection) {
        int error = bus_source_error(connection->source);

        g_clear_pointer(&connection->limit, g_source_destroy);
        connection_retry_later(connection, error);
        g_clear_pointer(&connection->source, g_source_destroy);
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

        if (!connection->ready && sd_bus_is_ready(connection->bus) > 0) {
                if (connection->warned)
                        log_notice("connected to bus '%s'", connection->name);
                connection->warned = false;
                g_clear_pointer(&connection->limit, g_source_destroy);
                connection->ready = true;
                connection->error = 0;
                connection->retry_msec = RETRY_MSEC_MIN;

                /* Rules before calls, so that no signal is missed that a waiting call causes. */
                rules_attach(connection->rules, connection->bus, connection->source);
                names_attach(connection->names, connection->bus);
                listeners_tell(connection);
                calls_attach(connection->calls, connection->bus, connection->source);
        }
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
                r = sd_bus_negotiate_fds(bus, connection->descriptors);
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
        g_source_unref(connection->source);
        connection->limit = call_later(connection->context, CONNECT_MSEC, on_limit, connection);
}

static Connection *connection_make(GMainContext *context, const char *name, const char *address, bool descriptors) {
        Connection *connection = g_new0(Connection, 1);

        connection->context = context;
        connection->descriptors = descriptors;
        connection->name = g_strdup(name);
        connection->address = g_strdup(address);
        connection->retry_msec = RETRY_MSEC_MIN;
        connection->rules = rules_new(connection->name);
        connection->names = names_new(connection->rules);
        connection->calls = calls_new(connection);
        connection->matches = matches_new(connection->rules, connection->names);

        connection_open(connection);
        return connection;
}

Connection *connection_new(GMainContext *context, const char *name, const char *address) {
        return connection_make(context, name, address, true);
}

Connection *connection_again(const Connection *connection, bool descriptors) {
        return connection_make(connection->context, connection->name, connection->address, descriptors);
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

        for (GList *i = connection->listeners.followers.head; i; i = i->next)
                ((Listener *) i->data)->connection = NULL;
        g_datalist_clear(&connection->kept);
        rules_detach(connection->rules);
        matches_free(connection->matches);
        names_free(connection->names);
        rules_free(connection->rules);
        calls_free(connection->calls);

        g_clear_pointer(&connection->tell, g_source_destroy);
        g_clear_pointer(&connection->limit, g_source_destroy);
        g_clear_pointer(&connection->retry, g_source_destroy);
        g_clear_pointer(&connection->source, g_source_destroy);
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

int connection_error(const Connection *connection) {
        return connection->error;
}

char *connection_problem(const Connection *connection) {
        if (connection->error == 0)
                return NULL;
        if (connection->was_ready)
                return g_strdup_printf("the connection to the bus '%s' was lost", connection->name);
        return g_strdup_printf("cannot connect to the bus '%s': %s", connection->name, g_strerror(-connection->error));
}

char *connection_bus_id(Connection *connection) {
        char text[SD_ID128_STRING_MAX] = "";
        sd_id128_t id;

        /* sd-bus would wait for a connection that is being made. */
        if (connection->ready && sd_bus_get_bus_id(connection->bus, &id) >= 0)
                sd_id128_to_string(id, text);

        return g_strdup(text);
}

void connection_set_data(Connection *connection, const char *name, void *data, GDestroyNotify free) {
        g_datalist_set_data_full(&connection->kept, name, data, free);
}

void *connection_data(Connection *connection, const char *name) {
        return g_datalist_get_data(&connection->kept, name);
}

GHashTable *connection_table(Connection *connection, const char *name) {
        GHashTable *table = connection_data(connection, name);

        if (!table) {
                table = g_hash_table_new(g_str_hash, g_str_equal);
                connection_set_data(connection, name, table, (GDestroyNotify) g_hash_table_unref);
        }

        return table;
}

Calls *connection_calls(const Connection *connection) {
        return connection->calls;
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

Listener *connection_listen(Connection *connection, const ListenerCallbacks *callbacks, void *userdata) {
        Listener *listener = g_new0(Listener, 1);

        *listener = (Listener){
                .follower = { .changed = on_listener_told, .userdata = listener },
                .connection = connection,
                .callbacks = callbacks,
                .userdata = userdata,
        };
        audience_join(&connection->listeners, &listener->follower);
        connection->untold = true;
        if (connection->ready)
                bus_source_wake(connection->source, 0);
        else if (connection->error)
                listeners_tell_later(connection);
        return listener;
}

void listener_free(Listener *listener) {
        if (listener && listener->connection)
                audience_leave(&listener->connection->listeners, &listener->follower);
        g_free(listener);
}
