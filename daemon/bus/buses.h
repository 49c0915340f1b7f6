/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the connections that the leaves share, by the name of the bus in a tree file: "system", "session", a D-Bus
 * address, "host:user@name" or "machine:name". Each is made when it is first needed.
 *
 * sd-bus enters a local container, and resolves the host name of a tcp address, synchronously: these two block the
 * caller for a moment at each attempt.
 */

#include "bus/connection.h"

typedef struct Buses Buses;

/* The maximum number of connections of buses_get_own(): a dbus-daemon takes 256 of one user. */
#define BUSES_OWN_MAX 64u

/* default_name: the bus of a leaf without "bus"; default_address: its address, or NULL for the usual one. */
Buses *buses_new(GMainContext *context, const char *default_name, const char *default_address);
void buses_free(Buses *buses);

/* name NULL: the default. shown: the name for messages, without secrets. Borrowed. Errors as of
 * bus_address_of(). */
int buses_get(Buses *buses, const char *name, const char *shown, Connection **ret_connection, char **ret_error);
/* The connection to this bus if there is one already, or NULL. */
Connection *buses_find(const Buses *buses, const char *name);
const char *buses_default_name(const Buses *buses);
/* Another connection to this bus, on which all calls are sent; to be given back with buses_drop_own(). -EMFILE: there
 * are too many, with an error message, too. */
int buses_get_own(Buses *buses, const char *name, Connection **ret_connection, char **ret_error);
void buses_drop_own(Buses *buses, Connection *connection);
/* A second connection to the default bus; always the same one. */
int buses_get_second(Buses *buses, Connection **ret_connection, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Buses, buses_free)
