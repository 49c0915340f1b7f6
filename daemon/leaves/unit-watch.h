/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What becomes of a unit, as the service manager signals it.
 */

#include "bus/connection.h"
#include "leaves/unit-facts.h"

typedef struct UnitWatch UnitWatch;

/* Each may free the watch. */
typedef struct UnitWatchCallbacks {
        /* From now on no change is missed: the time to ask how things are. Again after the bus was lost, or
         * the service manager. */
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

/* Asks for all that signals would tell changes of. */
void unit_watch_read(UnitWatch *watch);

/* The owner may correct what he knows better. */
UnitFacts *unit_watch_facts(UnitWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitWatch, unit_watch_free)
