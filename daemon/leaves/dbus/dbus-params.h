/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parameters that the D-Bus leaves have in common, the connection of a leaf, and D-Bus errors as causes.
 */

#include <json-c/json_object.h>
#include <systemd/sd-bus.h>

#include "bus/connection.h"
#include "engine/type.h"
#include "leaves/formats.h"
#include "run/leaf.h"

typedef struct DBusAddress {
        const char *bus, *destination, *path, *interface;
} DBusAddress;

/* The connection for a bus name from the parameters; NULL: the default bus. Errors as of buses_get(). */
int dbus_bus_get(Leaf *leaf, const char *name, Connection **ret_connection, char **ret_error);

/* Appends "connection to the bus 'system'" and returns true if the bus is not connected. */
bool dbus_describe_connection(Connection *connection, GString *text);

/* The entry in a table of parameters, of a struct that begins with a DBusAddress. */
#define DBUS_BUS_PARAM                                                                                                 \
        {                                                                                                              \
                .name = "bus", .kind = PARAM_STRING, .offset = offsetof(DBusAddress, bus), .format = &bus_format,      \
                .doc = "\"system\", \"session\", \"host:USER@HOST\", \"machine:NAME\" or an address",                  \
        }

/* A message that DBusCall or DBusEmit sends, and its destination. */
typedef struct DBusMessage {
        DBusAddress address; /* first */
        const char *member, *signature;
        json_object *args;
} DBusMessage;

/* Entries in a table of parameters, of a struct that begins with a DBusMessage. what: method, signal. */
#define DBUS_MESSAGE_PARAMS(what)                                                                                      \
        {                                                                                                              \
                .name = "member",                                                                                      \
                .kind = PARAM_STRING,                                                                                  \
                .offset = offsetof(DBusMessage, member),                                                               \
                .required = true,                                                                                      \
                .title = true,                                                                                         \
                .format = &what##_format,                                                                              \
                .doc = "The name of the " #what,                                                                       \
        },                                                                                                             \
                {                                                                                                      \
                        .name = "signature",                                                                           \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(DBusMessage, signature),                                                    \
                        .literal = true,                                                                               \
                        .plain = true,                                                                                 \
                        .format = &signature_format,                                                                   \
                        .fallback = "\"\"",                                                                            \
                        .doc = "The D-Bus types of the arguments",                                                     \
                },                                                                                                     \
        {                                                                                                              \
                .name = "args", .kind = PARAM_JSON, .offset = offsetof(DBusMessage, args), .elements = &any_value,     \
                .fits = args_fit_signature, .fits_with = "signature",                                                  \
                .doc = "The arguments: an array with a value for each type of the signature",                          \
        }

/* The kind of cause: "dbus-error", or "connection-lost" if the connection caused the error. */
const char *dbus_error_kind(const sd_bus_error *error);
/* The name and message of the error. */
json_object *dbus_error_facts(const sd_bus_error *error);
