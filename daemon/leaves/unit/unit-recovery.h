/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds out what happened to a unit since a leaf requested a job for it, or was about to, but did not get the reply:
 * btd was restarted, or the bus or systemd left. unit-job.c uses it.
 */

#include <json-c/json_object.h>

#include "bus/connection.h"
#include "leaves/unit/unit-cause.h"
#include "leaves/unit/unit-facts.h"

/* The request, as far as it is known. */
typedef struct UnitRequest {
        const char *bus;    /* the ID of the bus */
        const char *asker;  /* the unique name of the connection that the request is sent over */
        const char *holder; /* ... that holds a reference to the unit; NULL: none does */
        bool heard;         /* systemd has replied that it queued the job */
        uint32_t job;       /* the id of that job; 0: not known */
        bool own;           /* the request has created it; false: another one may have */
} UnitRequest;

/* The request as a memo for the run record. */
json_object *unit_recovery_memo(const UnitRequest *request);
typedef enum UnitRecoveryVerdict {
        UNIT_RECOVERY_TO_DO,     /* systemd was not asked, or did not process the request */
        UNIT_RECOVERY_SUCCEEDED, /* the job has done its work */
        UNIT_RECOVERY_ENDED,     /* the job has ended; its result and the facts describe how */
        UNIT_RECOVERY_DROPPED, /* the job left the queue without any work: another one cancelled it, or a unit that this
                                * one requires failed */
        UNIT_RECOVERY_UNKNOWN, /* systemd has forgotten the unit meanwhile */
} UnitRecoveryVerdict;

typedef struct UnitRecovery UnitRecovery;

typedef struct UnitRecoveryCallbacks {
        /* The unit was read, and was not forgotten since the request. Called before the next one. */
        void (*kept)(void *userdata);
        /* A job for the unit is in the queue. Called again when it is another one. */
        void (*queued)(void *userdata);
        /* There is no job for the unit in the queue any more. result: of the job that has ended. May take the facts,
         * which systemd may have forgotten by now, and may free the UnitRecovery. */
        void (*known)(UnitRecoveryVerdict verdict, const char *result, UnitFacts *facts, void *userdata);
        /* The unit cannot be read. May free the UnitRecovery. */
        void (*failed)(const sd_bus_error *error, void *userdata);
} UnitRecoveryCallbacks;

/* since: when the leaf began, CLOCK_MONOTONIC µs. memo: borrowed during the call; NULL: systemd was not asked for
 * anything, so this only waits for it. */
UnitRecovery *unit_recovery_new(Connection *connection, const char *path, UnitVerb verb, uint64_t since,
                                json_object *memo, const UnitRecoveryCallbacks *callbacks, void *userdata);
void unit_recovery_free(UnitRecovery *recovery);

/* The path of the job that it waits for; NULL: there is none, or it is not known yet. */
const char *unit_recovery_job(const UnitRecovery *recovery);

/* Cancels the job that it waits for, if there is one; known() follows when it has left the queue. True: the job is left
 * to others, and known() does not follow. deadlocked: see job_cancel(). */
bool unit_recovery_cancel(UnitRecovery *recovery, bool deadlocked);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitRecovery, unit_recovery_free)
