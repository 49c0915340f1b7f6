/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements OwnConnection of run/held.h. A connection that was lost is not made again for its node: services have
 * forgotten what they kept for it, and only the tree can begin that again.
 */

#include "bus/buses.h"
#include "leaves/kinds.h"
#include "run/leaf.h"

struct OwnConnection {
        const LeafServices *services;
        HeldChanged changed;
        void *userdata;
        Connection *connection;
        Listener *listener;
        Timer *refusal; /* until changed() is called with it */
        Cause *refused;
        bool made, lost;
        char *name;
};

static void on_connected(Connection *connection, void *userdata) {
        OwnConnection *own = userdata;
        const char *name;

        if (own->made)
                return;

        own->made = true;
        own->name = sd_bus_get_unique_name(connection_bus(connection), &name) >= 0 ? g_strdup(name) : NULL;
        own->changed(NULL, own->userdata);
}

/* Before it was made, the node waits for the bus, as a leaf does. */
static void on_lost(Connection *connection, void *userdata) {
        OwnConnection *own = userdata;
        g_autofree char *problem = connection_problem(connection);
        g_autoptr(Cause) cause = NULL;

        if (!own->made || own->lost)
                return;

        own->lost = true;
        cause = cause_new(CAUSE_CONNECTION_LOST, NULL, problem);
        own->changed(cause, own->userdata);
}

static void on_refused(void *userdata) {
        OwnConnection *own = userdata;
        g_autoptr(Cause) cause = g_steal_pointer(&own->refused);

        g_clear_pointer(&own->refusal, timer_free);
        own->changed(cause, own->userdata);
}

static OwnConnection *own_connection_make(const LeafServices *services, const char *bus, HeldChanged changed,
                                          void *userdata) {
        static const ListenerCallbacks callbacks = { .connected = on_connected, .lost = on_lost };
        OwnConnection *own = g_new0(OwnConnection, 1);
        g_autofree char *error = NULL;
        int r = buses_get_own(services->buses, bus, &own->connection, &error);

        own->services = services;
        own->changed = changed;
        own->userdata = userdata;
        if (r >= 0) {
                own->listener = connection_listen(own->connection, &callbacks, own);
        } else {
                own->lost = true;
                own->refused = cause_new(r == -EMFILE ? CAUSE_FAILED : CAUSE_PARAMETER, NULL, error);
                own->refusal = timer_new(services->timers, 0, on_refused, own);
        }
        return own;
}

static void own_connection_free(OwnConnection *own) {
        listener_free(own->listener);
        timer_free(own->refusal);
        cause_unref(own->refused);
        if (own->connection)
                buses_drop_own(own->services->buses, own->connection);
        g_free(own->name);
        g_free(own);
}

static bool own_connection_is_same_bus(const LeafServices *services, const char *bus, const char *other) {
        const char *usual = buses_default_name(services->buses);

        return g_str_equal(bus ?: usual, other ?: usual);
}

static Connection *own_connection_connection(const OwnConnection *own) {
        return own->lost ? NULL : own->connection;
}

static const char *own_connection_name(const OwnConnection *own) {
        return own->lost ? NULL : own->name;
}

const OwnConnectionKind own_connections = {
        .make = own_connection_make,
        .free = own_connection_free,
        .is_same_bus = own_connection_is_same_bus,
        .connection = own_connection_connection,
        .name = own_connection_name,
};
