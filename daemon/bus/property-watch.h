/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The value of a property of a D-Bus object, followed by signals, without polling, through restarts of its service
 * and of the bus. All who watch the same property share one value; all who watch one interface of an object, its match
 * rules.
 */

#include <json-c/json_object.h>

#include "bus/connection.h"

typedef struct PropertyWatch PropertyWatch;

typedef struct PropertyAddress {
        const char *destination, *path, *interface, *property;
} PropertyAddress;

typedef enum PropertyState {
        PROPERTY_ASKED, /* not known yet */
        PROPERTY_KNOWN,
        PROPERTY_UNKNOWN, /* it cannot be known */
} PropertyState;

/* Why a value is unknown. */
typedef struct PropertyProblem {
        char *text;         /* for people */
        bool lost;          /* it is the bus that is gone */
        sd_bus_error error; /* what the service or the bus said, if anything */
} PropertyProblem;

/* changed is called from the main loop when there is another value, or another reason why there is none. It may free
 * the watch. What is known already is not told. Asking may make the bus start a service that is not there, once for
 * each watch; later the watch only waits for it. */
PropertyWatch *property_watch_new(Connection *connection, const PropertyAddress *address,
                                  void (*changed)(void *userdata), void *userdata);
void property_watch_free(PropertyWatch *watch);

PropertyState property_watch_state(const PropertyWatch *watch);
/* Borrowed. While it is known, which JSON null is, too. */
json_object *property_watch_value(const PropertyWatch *watch);
/* Borrowed. While it is unknown. */
const PropertyProblem *property_watch_problem(const PropertyWatch *watch);

/* What is shared by all watches of a connection, which makes and frees it. Watches that are left over can be freed. */
Properties *properties_new(Connection *connection);
void properties_free(Properties *properties);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PropertyWatch, property_watch_free)
