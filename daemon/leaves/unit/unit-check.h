/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks whether a unit is in the state that a job was to bring it to, after systemd has reported the job as done.
 */

#include "basic/timers.h"
#include "bus/connection.h"
#include "leaves/unit/unit-cause.h"
#include "leaves/unit/unit-facts.h"

/* Which unit, and what was requested. Strings are borrowed. */
typedef struct UnitOrder {
        Connection *connection;
        Timers *timers;
        const char *unit, *path;
        UnitVerb verb;
        uint64_t since; /* the request was sent after that, CLOCK_MONOTONIC µs; 0: on a machine with another clock */
} UnitOrder;

typedef struct UnitCheck UnitCheck;

typedef struct UnitCheckCallbacks {
        /* Is it in that state? If not, all its facts have been read. May free the check. */
        void (*known)(bool good, void *userdata);
        /* The unit could not be read. May free the check. */
        void (*failed)(const sd_bus_error *error, void *userdata);
} UnitCheckCallbacks;

/* facts: get what is read. complete: they are complete already, and nobody has seen the job end; they must show that
 * the unit was up since the request. Calls back later. */
UnitCheck *unit_check_new(const UnitOrder *order, UnitFacts *facts, bool complete, const UnitCheckCallbacks *callbacks,
                          void *userdata);
void unit_check_free(UnitCheck *check);

/* Was the unit up since the request, or did its program, a oneshot's, do its work? A unit that was stopped in the
 * middle of its start looks like one that has ended otherwise, and so does one whose failure was reset. */
bool unit_was_up_since(const UnitFacts *facts, uint64_t since);

/* Has something started the unit, which is up, again by itself after it was stopped? Others may have done that, too. */
bool unit_was_started_again(const UnitFacts *facts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitCheck, unit_check_free)
