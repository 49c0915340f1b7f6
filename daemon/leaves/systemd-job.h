/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A job of the service manager, from the method call that asks for it until it has left the queue.
 */

#include <stdbool.h>

#include "bus/connection.h"

typedef struct Job Job;

/* Called once. result: "done", "failed", "canceled", ...; or error: it could not be had or followed. */
typedef void (*JobDone)(const char *result, const sd_bus_error *error, void *userdata);

/* Called on the way of the request, for those who keep a record of what they do. manager: the unique name of the
 * service manager that it goes to, as far as is known; NULL: it was not on the bus. */
typedef enum JobStep {
        JOB_SENDING, /* next, perhaps once more */
        JOB_SENT,
        JOB_HEARD,
} JobStep;
typedef void (*JobStepped)(JobStep step, const char *manager, void *userdata);

/* request: a method call that is answered with the path of a job, like StartUnit. before: a message without a reply
 * that is sent right before it, or NULL. stepped: NULL, if that is of no interest; it may not free the job. */
Job *job_new(Connection *connection, sd_bus_message *before, sd_bus_message *request, JobStepped stepped, JobDone done,
             void *userdata);

/* Did the service manager say that there is such a job? Then it has heard of it, however that ended. */
bool job_was_queued(const Job *job);

/* Takes it out of the queue. True: that is all, done will not be called. False: done will follow.
 * A job that others wait for, too, is left to them. */
bool job_cancel(Job *job);

/* Does not cancel: the job goes its way. */
void job_free(Job *job);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Job, job_free)
