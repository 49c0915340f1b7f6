/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Keeps the one connection to each bus.
 */

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "basic/bus-address.h"
#include "bus/buses.h"

struct Buses {
        GMainContext *context;
        char *default_name, *default_address;
        GHashTable *connections; /* by name */
        Connection *second;      /* to the default bus; NULL until first needed */
        unsigned n_own;
};

Buses *buses_new(GMainContext *context, const char *default_name, const char *default_address) {
        Buses *buses = g_new0(Buses, 1);

        buses->context = context;
        buses->default_name = g_strdup(default_name);
        buses->default_address = g_strdup(default_address);
        buses->connections = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) connection_free);
        return buses;
}

void buses_free(Buses *buses) {
        if (!buses)
                return;

        connection_free(buses->second);
        g_hash_table_unref(buses->connections);
        g_free(buses->default_address);
        g_free(buses->default_name);
        g_free(buses);
}

static int open_connection(Buses *buses, const char *name, const char *shown, Connection **ret_connection,
                           char **ret_error) {
        g_autofree char *address = NULL;
        int r = 0;

        if (buses->default_address && g_str_equal(name, buses->default_name))
                address = g_strdup(buses->default_address);
        else
                r = bus_address_of(name, &address, ret_error);
        if (r < 0)
                return r;

        *ret_connection = connection_new(buses->context, shown, address);
        return 0;
}

int buses_get(Buses *buses, const char *name, const char *shown, Connection **ret_connection, char **ret_error) {
        const char *bus = name ?: buses->default_name;
        Connection *connection = g_hash_table_lookup(buses->connections, bus);

        if (!connection) {
                int r = open_connection(buses, bus, name ? shown : bus, &connection, ret_error);

                if (r < 0)
                        return r;
                g_hash_table_insert(buses->connections, g_strdup(bus), connection);
        }

        *ret_connection = connection;
        return 0;
}

Connection *buses_find(const Buses *buses, const char *name) {
        return g_hash_table_lookup(buses->connections, name);
}

const char *buses_default_name(const Buses *buses) {
        return buses->default_name;
}

int buses_get_own(Buses *buses, const char *name, Connection **ret_connection, char **ret_error) {
        const char *bus = name ?: buses->default_name;
        int r;

        if (buses->n_own >= BUSES_OWN_MAX) {
                *ret_error = g_strdup_printf("btd has %u connections of nodes already, the maximum; end another run "
                                             "with an OwnConnection first",
                                             buses->n_own);
                return -EMFILE;
        }

        r = open_connection(buses, bus, bus, ret_connection, ret_error);
        if (r < 0)
                return r;

        connection_bind(*ret_connection);
        buses->n_own++;
        return 0;
}

void buses_drop_own(Buses *buses, Connection *connection) {
        buses->n_own--;
        connection_free(connection);
}

int buses_get_second(Buses *buses, Connection **ret_connection, char **ret_error) {
        int r = buses->second
                        ? 0
                        : open_connection(buses, buses->default_name, buses->default_name, &buses->second, ret_error);

        if (r >= 0)
                *ret_connection = buses->second;
        return r;
}
