/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where systemd answers to daemons before this one that were killed: the connections over which they have asked for
 * jobs, and that were kept. What they could not note any more may be seen there (leaves/job-search.h); each is to be
 * kept until that is noted.
 */

#include <stdbool.h>

#include "bus/connection.h"

typedef struct JobReplies JobReplies;

/* connection: to the same bus, borrowed. done: nobody needs to look there any more. */
typedef void (*JobRepliesDone)(int fd, void *userdata);
JobReplies *job_replies_new(Connection *connection, JobRepliesDone done, void *userdata);
void job_replies_free(JobReplies *replies);

/* name: the unique name of a connection; its descriptor is borrowed. */
void job_replies_add(JobReplies *replies, const char *name, int fd);
/* All who will look for something have begun to: of the rest, done is told at once. */
void job_replies_release(JobReplies *replies);

/* For those who look: -1, there is none. */
int job_replies_open(JobReplies *replies, const char *name);
/* Once for each open. noted: what was to be seen there was. */
void job_replies_close(JobReplies *replies, int fd, bool noted);
Connection *job_replies_connection(const JobReplies *replies);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobReplies, job_replies_free)
