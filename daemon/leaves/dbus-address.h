/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where on which bus something is: what the parameters of all D-Bus leaves begin with.
 */

#include "bus/connection.h"
#include "engine/type.h"

typedef struct DBusAddress {
        const char *bus, *destination, *path, *interface;
} DBusAddress;

/* Why no such thing can be, as a text to be freed, or NULL. A field that is NULL is not known yet. */
char *dbus_address_problem(const DBusAddress *address);

/* Appends "connection to the bus 'system'" and answers true while the bus is not there. */
bool dbus_describe_connection(Connection *connection, GString *text);

/* The entry in a table of parameters, of a struct that begins with a DBusAddress. */
#define DBUS_BUS_PARAM                                                                                                 \
        {                                                                                                              \
                .name = "bus", .kind = PARAM_STRING, .offset = offsetof(DBusAddress, bus),                             \
                .doc = "\"system\", \"session\", \"host:USER@HOST\", \"machine:NAME\" or an address",                  \
        }
