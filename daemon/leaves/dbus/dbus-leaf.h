/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the D-Bus leaves have in common: the connection of a leaf, D-Bus errors as causes, the parameter "outputs",
 * which sets variables to the values of a message, and the recovery of DBusCall and DBusEmit.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

#include "bus/connection.h"
#include "bus/names.h"
#include "leaf-types/dbus.h"
#include "run/leaf.h"

/* The connection for a bus name from the parameters; NULL: the default bus. Errors as of buses_get(). */
int dbus_bus_get(Leaf *leaf, const char *name, Connection **ret_connection, char **ret_error);

/* Appends "connection to the bus 'system'" and returns true if the bus is not connected. */
bool dbus_describe_connection(Connection *connection, GString *text);

/* The kind of cause: "dbus-error", or "connection-lost" if the connection caused the error. */
const char *dbus_error_kind(const sd_bus_error *error);
/* The name and message of the error. */
json_object *dbus_error_facts(const sd_bus_error *error);

/* Sets variables to the values of a message: all of them or, after an error, none, and sets the cause. what: "reply",
 * "signal". */
Status dbus_outputs_take(Leaf *leaf, const DBusOutputs *outputs, const char *what, sd_bus_message *message);

/* Waits until the bus has processed all messages of the previous btd, for DBusCall and DBusEmit. That is so when the
 * bus has released the previous btd's connection; until then, no message that must come later may be sent. Part of a
 * kind's record. */
typedef struct DBusRecovery {
        Leaf *leaf; /* NULL: not waiting */
        Connection *connection;
        char *bus; /* the ID that the bus had then, or NULL */
        NameUse sender;
} DBusRecovery;

/* The memo for leaf_set_memo(), right before the leaf sends its message. */
json_object *dbus_recovery_memo(const Leaf *leaf, Connection *connection);

/* For LeafKind.recover: IDLE, or RUNNING, and leaf_lost() follows. */
Status dbus_recovery_begin(DBusRecovery *recovery, Leaf *leaf, Connection *connection);
void dbus_recovery_end(DBusRecovery *recovery);
