/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements dbus-leaf.h. */

#include "leaves/dbus/dbus-leaf.h"
#include "basic/cause.h"
#include "bus/buses.h"

int dbus_bus_get(Leaf *leaf, const char *name, Connection **ret_connection, char **ret_error) {
        g_autofree char *shown = name ? leaf_hide_secrets(leaf, name) : NULL;

        return buses_get(leaf->services->buses, name, shown ?: name, ret_connection, ret_error);
}

Connection *dbus_connection_get(Leaf *leaf, const DBusAddress *address) {
        g_autofree char *error = NULL;
        Connection *connection = NULL;

        /* A condition can be evaluated when the nodes above it have ended. */
        if (leaf->type->class != NODE_CONDITION && leaf_own_connection(leaf, address->bus, &connection)) {
                if (!connection)
                        leaf_set_cause_of(leaf, CAUSE_CONNECTION_LOST, NULL,
                                          "the connection of its OwnConnection was lost");
                return connection;
        }

        if (dbus_bus_get(leaf, address->bus, &connection, &error) < 0)
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
        return connection;
}

char *dbus_obstacle(const Connection *connection) {
        int error = connection_error(connection);

        if (connection_is_ready(connection))
                return NULL;

        return g_strdup_printf("connection to the bus '%s'%s%s", connection_name(connection), error ? ": " : "",
                               error ? g_strerror(-error) : "");
}

char *dbus_leaf_obstacle(const Leaf *leaf) {
        return dbus_obstacle(*(Connection *const *) leaf->op);
}

char *dbus_activation_obstacle(const Connection *connection, const DBusAddress *address) {
        return g_strdup_printf("the bus '%s' to start %s", connection_name(connection), address->destination);
}

const char *dbus_error_kind(const sd_bus_error *error) {
        return sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) ? CAUSE_CONNECTION_LOST : CAUSE_DBUS_ERROR;
}

json_object *dbus_error_facts(const sd_bus_error *error) {
        return facts_new("name", fact_text(error->name), "message", fact_text(error->message), NULL);
}
