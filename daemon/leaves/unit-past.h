/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What has become of a unit since a daemon before this one asked for a job for it, or was about to: from what it looked
 * like then and what it is like now.
 */

#include <json-c/json_object.h>

#include "bus/connection.h"
#include "leaves/job-search.h"
#include "leaves/unit-cause.h"
#include "leaves/unit-facts.h"

/* What is known of the request. */
typedef struct UnitRequest {
        bool sent;
        const char *manager; /* the unique name of the systemd that it was sent to, which will hear it if it stays; or
                                NULL */
        const char *bus;     /* the ID of the bus on which that is its name */
        bool heard;          /* it has answered */
        const char *name;    /* before it is sent: the unique name of the connection over which it will be; or NULL */
        uint64_t serial;     /* and the serial number of the call before it */
} UnitRequest;

/* What the daemon before has to keep in mind: what the unit was like, as far as it knows, and the request. */
json_object *unit_past_remember(const UnitFacts *before, bool conditional, const UnitRequest *request);
/* Was it about to send the request, over a connection that outlasts it? */
bool unit_past_is_open(json_object *memory);
/* What became of that. NULL: it cannot be seen any more. */
JobSearch *unit_past_search(json_object *memory, JobReplies *replies, JobSearchDone done, void *userdata);
/* What it would have kept in mind then. */
json_object *unit_past_settle(json_object *memory, JobFate fate);

typedef enum UnitPastVerdict {
        UNIT_PAST_TO_DO,   /* it is to be asked for, perhaps again */
        UNIT_PAST_DONE,    /* the facts tell how it came out */
        UNIT_PAST_UNKNOWN, /* one or the other */
} UnitPastVerdict;

typedef struct UnitPast UnitPast;

typedef struct UnitPastCallbacks {
        /* There is no job for it in the queue any more. May take the facts, which systemd may have forgotten by now,
         * and may free it. */
        void (*known)(UnitPastVerdict verdict, UnitFacts *facts, void *userdata);
        /* It cannot be looked at. May free it. */
        void (*failed)(const sd_bus_error *error, void *userdata);
} UnitPastCallbacks;

/* memory: borrowed for the moment; NULL: nothing has been asked for, so this only waits for systemd. */
UnitPast *unit_past_new(Connection *connection, const char *path, UnitVerb verb, json_object *memory,
                        const UnitPastCallbacks *callbacks, void *userdata);
void unit_past_free(UnitPast *past);

/* The job that it waits for, if there is one, is taken out of the queue; known() tells when that is done. */
void unit_past_cancel(UnitPast *past);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UnitPast, unit_past_free)
