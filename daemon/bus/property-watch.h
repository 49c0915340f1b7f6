/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the value of a property of a D-Bus object by signals, through restarts of its service and of the bus. Since
 * some services send none, the property is read for each new watch. Watches of the same property share its value;
 * watches of one interface of an object share its match rules.
 * The leaf DBusProperty uses it.
 */

#include <json-c/json_object.h>

#include "basic/timers.h"
#include "bus/connection.h"

/* How long an answer of the service may take, until the value is unknown. */
#define PROPERTY_ANSWER_USEC (UINT64_C(25) * 1000 * 1000)

typedef struct PropertyWatch PropertyWatch;

typedef struct PropertyAddress {
        const char *destination, *path, *interface, *property;
} PropertyAddress;

typedef enum PropertyState {
        PROPERTY_ASKED, /* not known yet */
        PROPERTY_KNOWN,
        PROPERTY_UNKNOWN, /* it has no value, see PropertyProblem */
} PropertyState;

/* How a service signals the changes of a property, as its introspection data says. */
typedef enum PropertySignals {
        SIGNALS_UNKNOWN, /* nobody has asked, or the data does not say */
        SIGNALS_CHANGES, /* with or without the value */
        SIGNALS_NEVER,
        SIGNALS_CONST, /* it does not change, so it is read only once */
} PropertySignals;

/* Why a value is unknown. */
typedef struct PropertyProblem {
        char *text;         /* an error message; NULL: the answer is late */
        bool lost;          /* the bus was lost */
        sd_bus_error error; /* of the service or the bus, if any */
} PropertyProblem;

/* changed is called from the main loop when the value, or the reason why there is none, has changed. It may free the
 * watch. It is not called for the present value. Each watch may make the bus start a missing service once; later it
 * only waits. */
PropertyWatch *property_watch_new(Connection *connection, Timers *timers, const PropertyAddress *address,
                                  void (*changed)(void *userdata), void *userdata);
void property_watch_free(PropertyWatch *watch);

/* Reads the property again, if its service is running. */
void property_watch_read(PropertyWatch *watch);

/* Asks how changes are signalled, if that is not known; changed is called when it is known and matters. */
void property_watch_learn(PropertyWatch *watch);
PropertySignals property_watch_signals(const PropertyWatch *watch);

/* Does the bus have to start the service before the property can be read? */
bool property_watch_is_starting(const PropertyWatch *watch);

PropertyState property_watch_state(const PropertyWatch *watch);
/* Borrowed; only if PROPERTY_KNOWN. JSON null is a known value, too. */
json_object *property_watch_value(const PropertyWatch *watch);
/* Borrowed; only if PROPERTY_UNKNOWN. */
const PropertyProblem *property_watch_problem(const PropertyWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PropertyWatch, property_watch_free)
