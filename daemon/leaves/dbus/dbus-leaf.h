/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds the connection of a leaf to a bus, and makes causes of D-Bus errors. The D-Bus leaves, the unit leaves and
 * Spawn use it. */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

#include "bus/connection.h"
#include "leaf-types/dbus.h"
#include "run/leaf.h"

/* The connection for a bus name from the parameters; NULL: the default bus. Errors as of buses_get(). */
int dbus_bus_get(Leaf *leaf, const char *name, Connection **ret_connection, char **ret_error);

/* The connection for an address from the parameters. NULL: there is none, and the cause is set. */
Connection *dbus_connection_get(Leaf *leaf, const DBusAddress *address);

/* "connection to the bus 'system'", with the reason if there is one; NULL: it is connected. */
char *dbus_obstacle(const Connection *connection);
/* The same as LeafKind.obstacle, for an op that begins with its connection. */
char *dbus_leaf_obstacle(const Leaf *leaf);
/* The same: the bus has to start the service first. */
char *dbus_activation_obstacle(const Connection *connection, const DBusAddress *address);

/* The kind of cause: "dbus-error", or "connection-lost" if the connection caused the error. */
const char *dbus_error_kind(const sd_bus_error *error);
/* The name and message of the error. */
json_object *dbus_error_facts(const sd_bus_error *error);
