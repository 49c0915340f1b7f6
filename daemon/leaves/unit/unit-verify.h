/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Verifies after a job that the unit is in the requested state, and reads why not. unit-job.c uses it.
 *
 * A job that starts a unit is "done" also when a condition of the unit was not met, and as soon as the process of a
 * Type=simple service was forked. So the state of the unit is read, and if systemd cannot know whether the program of a
 * service could be executed, the service must stay up for a moment.
 */

#include "basic/timers.h"
#include "bus/connection.h"
#include "leaves/unit/unit-facts.h"

typedef struct UnitVerify UnitVerify;

/* Any of them may free the UnitVerify. */
typedef struct UnitVerifyCallbacks {
        void (*done)(void *userdata);
        /* The facts have the reason; with an error: the unit could not be read. */
        void (*failed)(const sd_bus_error *error, void *userdata);
        /* A query got an error. True: the callback has handled it, and no other callback follows. */
        bool (*lost)(const sd_bus_error *error, void *userdata);
} UnitVerifyCallbacks;

/* Borrows all arguments; the properties that it reads go to the facts. */
UnitVerify *unit_verify_new(Timers *timers, Connection *connection, const char *unit, const char *path,
                            UnitFacts *facts, const UnitVerifyCallbacks *callbacks, void *userdata);
void unit_verify_free(UnitVerify *verify);

/* One of the following is called once. The job has failed with this result: reads why. */
void unit_verify_explain(UnitVerify *verify, const char *result);
/* The job is done; or the facts have all been read already. */
void unit_verify_check(UnitVerify *verify);
void unit_verify_decide(UnitVerify *verify);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitVerify, unit_verify_free)
