/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why a job did not bring a unit to where it was to be, in words.
 */

#include <json-c/json_object.h>

#include "leaves/unit-facts.h"

typedef enum UnitVerb {
        UNIT_START,
        UNIT_STOP,
        UNIT_RESTART,
        UNIT_RELOAD,
} UnitVerb;

/* result: of the job, as systemd calls it; facts: what is known of the unit after it. To be freed. */
char *unit_cause(const char *unit, UnitVerb verb, const char *result, const UnitFacts *facts);

/* The same for programs. bus: NULL is the default one. */
json_object *unit_cause_facts(const char *unit, const char *bus, const char *result, const UnitFacts *facts);

/* Why the job could not be had at all. To be freed. */
char *unit_cause_of_error(const char *unit, UnitVerb verb, const sd_bus_error *error);
