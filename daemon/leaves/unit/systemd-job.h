/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows a job of the service manager, from the method call that requests it until it has left the queue. The unit
 * actions and Spawn use it.
 *
 * systemd has a match rule on its own connection to the bus for each job that a client has asked for, and one for each
 * reference that a client holds. A dbus-daemon allows 512 for a connection; if it refuses one, systemd leaves the
 * bus. So the number of jobs and references is limited, and others wait in order.
 */

#include <stdbool.h>

#include "bus/connection.h"

typedef struct Job Job;

/* Of a leaf that holds references and whose jobs may last: there are fewer of these than jobs, so that jobs that do not
 * last always find room. */
typedef struct JobPlace {
        struct Jobs *jobs; /* NULL: it was not asked for */
        GList link;
        bool taken;
        void (*given)(void *userdata);
        void *userdata;
} JobPlace;

/* True: it is taken. False: given will be called from the main loop. */
bool job_place_take(JobPlace *place, Connection *connection, void (*given)(void *userdata), void *userdata);
/* For a job that the previous daemon requested. */
void job_place_keep(JobPlace *place, Connection *connection);
/* Taken, waited for or neither. */
void job_place_leave(JobPlace *place);

/* Called once. result: "done", "failed", "canceled", ...; or error: it could not be had or followed. */
typedef void (*JobDone)(const char *result, const sd_bus_error *error, void *userdata);

/* Called at the steps of the request, so that the owner can record them; must not free the job. */
typedef enum JobStep {
        JOB_SENDING, /* next, perhaps once more */
        JOB_HEARD,
} JobStep;
typedef void (*JobStepped)(JobStep step, void *userdata);

/* request: a method call that is answered with the path of a job, like StartUnit. stepped: or NULL. */
Job *job_new(Connection *connection, sd_bus_message *request, JobStepped stepped, JobDone done, void *userdata);

/* Has the service manager confirmed the job? Then it has processed the request, whatever its result. */
bool job_was_queued(const Job *job);

/* NULL: it has not been queued. */
const char *job_path(const Job *job);

/* Takes it out of the queue. True: that is all, done will not be called. False: done will follow.
 * A job that others wait for, too, is left to them. */
bool job_cancel(Job *job);

/* Does not cancel the job. */
void job_free(Job *job);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Job, job_free)
