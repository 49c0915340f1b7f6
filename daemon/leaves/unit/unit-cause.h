/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes in a message why a job did not bring a unit to the requested state, how a process ended, and why systemd
 * could not execute one. The unit leaves and Spawn use it.
 */

#include <json-c/json_object.h>

#include "leaves/unit/unit-facts.h"

typedef enum UnitVerb {
        UNIT_START,
        UNIT_STOP,
        UNIT_RESTART,
        UNIT_RELOAD,
} UnitVerb;

/* By verb: the type of the job, as systemd calls it, and the method of the service manager that requests it. */
extern const struct UnitVerbNames {
        const char *type, *past, *method; /* "start", "started", "StartUnit" */
} unit_verbs[];

/* The result of a unit that systemd does not start, because it was started too often. */
#define UNIT_RESULT_START_LIMIT "start-limit-hit"

/* result: of the job, as systemd calls it; facts: what is known of the unit after it; user: the unit is of the service
 * manager of a user. To be freed. */
char *unit_cause(const char *unit, UnitVerb verb, const char *result, const UnitFacts *facts, bool user);

/* The unit is stopped, but has failed since that time, has processes, or something can start it again; NULL: nothing of
 * that. To be freed. */
char *unit_note_of_stop(const char *unit, const UnitFacts *facts, uint64_t since);
/* The unit was restarted as its files said before. user: see unit_cause(). To be freed. */
char *unit_note_of_old_files(const char *unit, bool user);
/* The unit was started, after facts.n_restarts. To be freed. */
char *unit_note_of_restarts(const char *unit, const UnitFacts *facts);

/* The same as facts. bus: NULL is the default one. */
json_object *unit_cause_facts(const char *unit, UnitVerb verb, const char *bus, const char *result,
                              const UnitFacts *facts);

/* Notes which other unit has kept the unit from being started, see unit-search.h. result: of the job. found: what is
 * known of the other one. */
void unit_facts_blame(UnitFacts *facts, const char *result, const char *unit, const UnitFacts *found);

/* Describes why systemd refused the job; goes_down: btd stops because the machine does. To be freed. */
char *unit_cause_of_error(const char *unit, UnitVerb verb, const sd_bus_error *error, bool goes_down);

/* code is CLD_EXITED, CLD_KILLED or CLD_DUMPED; status the exit status or the signal, as in siginfo_t:
 * "exited with status 3", "was killed by SIGSEGV and dumped core". To be freed. */
char *exit_status_describe(int code, int status);

/* The same as facts: "status", or "signal" and "core_dumped"; none for a code of 0. */
void exit_status_add_facts(int code, int status, json_object *facts);

/* systemd uses some exit statuses if it cannot execute a program. Returns what this status says then, such as "its
 * program could not be executed"; NULL if systemd does not use it so. */
const char *exit_status_of_exec(int status);
