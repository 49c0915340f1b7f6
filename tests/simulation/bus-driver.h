/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The methods and signals of the simulated bus itself: org.freedesktop.DBus.
 */

#include "link.h"

#define BUS_DRIVER_NAME "org.freedesktop.DBus"

/* The connections of users. */
#define BUS_ROOT ":1.2"
#define BUS_USER ":1.7"
#define BUS_USER_UID 1000u

void bus_driver_called(Link *link, sd_bus_message *call);
void bus_driver_tell_owner(Link *link, const char *name, const char *before, const char *after);

/* NULL: the name has no owner. */
const char *bus_owner_of(const char *name);
