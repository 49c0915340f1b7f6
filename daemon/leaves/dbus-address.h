/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where on which bus something is: what the parameters of all D-Bus leaves begin with.
 */

typedef struct DBusAddress {
        const char *bus, *destination, *path, *interface;
} DBusAddress;

/* Why no such thing can be, as a text to be freed, or NULL. A field that is NULL is not known yet. */
char *dbus_address_problem(const DBusAddress *address);
