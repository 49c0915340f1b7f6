/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a process writes to one of its outputs, captured through a pipe; or, where the process may outlive the daemon,
 * in a file for the next one.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

#include "basic/log.h"

typedef struct SpawnOutput SpawnOutput;

/* what: "stdout" or "stderr", for messages; limit: bytes that are kept. ret_fd: the end for the process, to be
 * closed by the caller. The subject is borrowed. */
int spawn_output_new(const char *what, size_t limit, const LogSubject *subject, SpawnOutput **ret_output, int *ret_fd);
/* The same in a file. fresh: whatever is in it by now goes, and -ENOSPC is also for a file system that is nearly full;
 * else it has to be there. */
int spawn_output_new_file(const char *what, size_t limit, const LogSubject *subject, const char *path, bool fresh,
                          SpawnOutput **ret_output, int *ret_fd);
/* A file goes, too. */
void spawn_output_free(SpawnOutput *output);
/* A file stays. */
void spawn_output_abandon(SpawnOutput *output);

/* Reads what is still in the pipe. Others may have the other end, so it is not waited for its being closed. */
void spawn_output_finish(SpawnOutput *output);

/* All of it as text, without a newline at the end; what is not UTF-8 is replaced. */
json_object *spawn_output_to_json(const SpawnOutput *output);
/* The last line, if it is short enough to be quoted, or NULL. To be freed. */
char *spawn_output_last_line(const SpawnOutput *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnOutput, spawn_output_free)
