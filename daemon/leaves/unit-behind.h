/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a unit is like behind its job: whether that has brought it to where it was to be.
 *
 * A job that starts a unit is "done" also when a condition of the unit was not met, and as soon as the process of a
 * Type=simple service was forked. So the unit is looked at then, and a service of which systemd cannot know whether it
 * could be executed gets a moment to show it.
 */

#include "basic/timers.h"
#include "bus/connection.h"
#include "leaves/unit-facts.h"

typedef struct UnitBehind UnitBehind;

/* Any of them may free the look. */
typedef struct UnitBehindCallbacks {
        void (*done)(void *userdata);
        /* The facts say why; with an error: it could not be looked at. */
        void (*failed)(const sd_bus_error *error, void *userdata);
        /* The look was answered with an error. True: that is seen to, and there is nothing more to tell. */
        bool (*lost)(const sd_bus_error *error, void *userdata);
} UnitBehindCallbacks;

/* All is borrowed; what is read of the unit goes to the facts. */
UnitBehind *unit_behind_new(Timers *timers, Connection *connection, const char *unit, const char *path,
                            UnitFacts *facts, const UnitBehindCallbacks *callbacks, void *userdata);
void unit_behind_free(UnitBehind *behind);

/* One of these, once. The job has failed, with that result: reads why. */
void unit_behind_explain(UnitBehind *behind, const char *result);
/* The job is done, of a unit that has conditions or not; or the facts have all been read already. */
void unit_behind_check_all(UnitBehind *behind);
void unit_behind_check_state(UnitBehind *behind);
void unit_behind_judge(UnitBehind *behind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitBehind, unit_behind_free)
