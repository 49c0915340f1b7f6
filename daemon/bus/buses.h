/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The buses that a daemon's leaves talk to, by the name that users write: "system", "session", a D-Bus
 * address, "host:user@name" or "machine:name". One shared connection each, made when first asked for.
 *
 * sd-bus enters a local container, and looks up a host name in a tcp address, before it goes on: these two keep the
 * caller waiting for a moment at each attempt.
 */

#include "bus/connection.h"

typedef struct Buses Buses;

/* default_name: what a leaf without "bus" means; default_address: its address, or NULL for the usual one. */
Buses *buses_new(GMainContext *context, const char *default_name, const char *default_address);
void buses_free(Buses *buses);

/* -EINVAL: not the name of a bus, with a text for people. */
int buses_check_name(const char *name, char **ret_error);

/* name NULL: the default. Borrowed. Errors as above; -ENOENT: there is no such bus here. */
int buses_get(Buses *buses, const char *name, Connection **ret_connection, char **ret_error);
/* Another connection to the default bus, the same each time. */
int buses_get_second(Buses *buses, Connection **ret_connection, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Buses, buses_free)
