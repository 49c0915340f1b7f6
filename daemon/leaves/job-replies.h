/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What systemd has answered to requests for jobs when the daemon that had sent them was not there any more. It was
 * killed before it could note that it had sent the last of them: an answer says so.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct JobReplies JobReplies;

JobReplies *job_replies_new(void);
void job_replies_free(JobReplies *replies);

/* Looks at what came over the connection and was not read; nothing is taken from it. */
void job_replies_look(JobReplies *replies, int fd);

/* Is there an answer to what the connection of that unique name has asked for behind the call with that serial
 * number? */
bool job_replies_have(const JobReplies *replies, const char *name, uint64_t serial);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobReplies, job_replies_free)
