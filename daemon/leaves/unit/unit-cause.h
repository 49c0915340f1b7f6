/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes why a job did not bring a unit to the requested state. unit-job.c and spawn-unit.c use it.
 */

#include <json-c/json_object.h>

#include "leaves/unit/unit-facts.h"

typedef enum UnitVerb {
        UNIT_START,
        UNIT_STOP,
        UNIT_RESTART,
        UNIT_RELOAD,
} UnitVerb;

/* result: of the job, as systemd calls it; facts: what is known of the unit after it. To be freed. */
char *unit_cause(const char *unit, UnitVerb verb, const char *result, const UnitFacts *facts);

/* The same as facts. bus: NULL is the default one. */
json_object *unit_cause_facts(const char *unit, const char *bus, const char *result, const UnitFacts *facts);

/* Describes why systemd refused the job. To be freed. */
char *unit_cause_of_error(const char *unit, UnitVerb verb, const sd_bus_error *error);
