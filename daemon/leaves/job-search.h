/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether systemd has answered to a request for a job that a daemon was about to send when it was killed: then it was
 * sent, and heard.
 */

#include <stdbool.h>
#include <stdint.h>

#include "leaves/job-replies.h"

typedef struct JobSearch JobSearch;

typedef enum JobFate {
        JOB_NEVER_SENT,
        JOB_WAS_HEARD,
        JOB_IN_DOUBT, /* the bus has gone since, and with it what was said */
} JobFate;

/* Once, from the main loop. It may free the search; until that is freed, a daemon after this one can search again. */
typedef void (*JobSearchDone)(JobFate fate, void *userdata);

/* For the reply to a request that was, if at all, the only one behind the call with that serial number over the
 * connection with that unique name. systemd has dealt with all that was sent over it. NULL: there is no such connection
 * any more, or the replies are NULL. */
JobSearch *job_search_new(JobReplies *replies, const char *name, uint64_t serial, JobSearchDone done, void *userdata);
void job_search_free(JobSearch *search);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobSearch, job_search_free)
