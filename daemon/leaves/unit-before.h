/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a unit is like before a job is asked for: whether it has conditions, and what says later what the job has done,
 * where another daemon has to find out (unit-past.h).
 */

#include "bus/connection.h"
#include "leaves/unit-facts.h"

/* What to look at. */
typedef enum UnitBeforeLook {
        UNIT_BEFORE_CONDITIONS = 1 << 0,
        UNIT_BEFORE_EXEC_CONDITIONS = 1 << 1, /* of a service */
        UNIT_BEFORE_INVOCATION = 1 << 2,
        UNIT_BEFORE_CHANGE = 1 << 3,
} UnitBeforeLook;

/* Once. It may free the look. conditional: the unit has conditions. */
typedef void (*UnitBeforeKnown)(bool conditional, const sd_bus_error *error, void *userdata);

typedef struct UnitBefore UnitBefore;

/* looks: of UnitBeforeLook, at least one. What is read of the unit goes to the facts, which are borrowed. */
UnitBefore *unit_before_new(Connection *connection, const char *path, unsigned looks, UnitFacts *facts,
                            UnitBeforeKnown known, void *userdata);
void unit_before_free(UnitBefore *before);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitBefore, unit_before_free)
