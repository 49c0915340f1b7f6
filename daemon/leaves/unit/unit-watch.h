/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the facts of a unit by the signals of the service manager.
 */

#include <stdbool.h>

#include "bus/connection.h"
#include "leaves/unit/unit-facts.h"

typedef struct UnitWatch UnitWatch;

/* Each may free the watch. */
typedef struct UnitWatchCallbacks {
        /* From now on no change is missed: the time to ask how things are. Again after the bus was lost, or
         * the service manager, or that has read its units again. */
        void (*ready)(void *userdata);
        /* The facts have changed, or have been read. */
        void (*changed)(void *userdata);
        /* They could not be read. */
        void (*failed)(const sd_bus_error *error, void *userdata);
} UnitWatchCallbacks;

/* path: the object of the unit, which need not exist yet. */
UnitWatch *unit_watch_new(Connection *connection, const char *path, const UnitWatchCallbacks *callbacks,
                          void *userdata);
void unit_watch_free(UnitWatch *watch);

/* Was ready called, and is it still valid? */
bool unit_watch_is_ready(const UnitWatch *watch);

/* Reads all properties that the signals report changes of. */
void unit_watch_read(UnitWatch *watch);

/* The owner may correct facts that it knows better. */
UnitFacts *unit_watch_facts(UnitWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitWatch, unit_watch_free)
