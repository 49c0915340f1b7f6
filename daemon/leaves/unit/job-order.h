/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds whether a job in systemd's queue waits, over other jobs, for the job of a given unit. systemd reports the
 * jobs that are ordered before a job. unit-job.c uses it to find deadlocks.
 */

#include <stdbool.h>

#include "bus/connection.h"

typedef struct JobOrder JobOrder;

typedef struct JobOrderCallbacks {
        /* Is this the job to find? type: of the job, "start". */
        bool (*is_wanted)(const char *unit, const char *type, void *userdata);
        /* The job waits for such a job, or is one. units: those of the jobs on the way, the wanted one last; ended
         * by NULL. Called once at most, and not from within job_order_new(); it may free the search. */
        void (*found)(const char *const *units, void *userdata);
} JobOrderCallbacks;

/* job: its path, unit: its unit, type: its type, which has to stay. found is not called if there is no such wait. */
JobOrder *job_order_new(Connection *connection, const char *job, const char *unit, const char *type,
                        const JobOrderCallbacks *callbacks, void *userdata);
void job_order_free(JobOrder *order);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobOrder, job_order_free)
