/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The value of a property of a D-Bus object, followed by signals, without polling, through restarts of its service
 * and of the bus.
 */

#include <json-c/json_object.h>

#include "bus/connection.h"

typedef struct PropertyWatch PropertyWatch;

/* What is watched; borrowed for as long as the watch lives. */
typedef struct PropertyAddress {
        const char *destination, *path, *interface, *property;
} PropertyAddress;

/* Called from the main loop each time that something is heard: the value (borrowed), or that it is not known
 * and why. It may free the watch. */
typedef void (*PropertyKnown)(json_object *value, void *userdata);
typedef void (*PropertyUnknown)(const char *reason, void *userdata);

typedef struct PropertyCallbacks {
        PropertyKnown known;
        PropertyUnknown unknown;
} PropertyCallbacks;

/* Asking for the first time may make the bus start the service; later the watch only waits for it. */
PropertyWatch *property_watch_new(Connection *connection, const PropertyAddress *address,
                                  const PropertyCallbacks *callbacks, void *userdata);
void property_watch_free(PropertyWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PropertyWatch, property_watch_free)
