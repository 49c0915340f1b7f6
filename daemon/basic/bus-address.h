/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds the address of a bus by its name in a tree file: "system", "session", "host:user@name", "machine:name" or a
 * D-Bus address. The connections (bus/buses.h) and the checks of parameters use it.
 */

#include <stdbool.h>

/* -EINVAL: not the name of a bus; -ENOENT: there is no such bus here; with an error message. */
int bus_address_of(const char *name, char **ret_address, char **ret_error);
/* -EINVAL: not the name of a bus, with an error message. */
int bus_address_check(const char *name, char **ret_error);

/* True: this process cannot reach the bus, since a service that is confined cannot reach other machines, containers or
 * the buses of users; with an error message. */
bool bus_address_is_denied(const char *name, char **ret_reason);
