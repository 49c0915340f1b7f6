/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Captures one output of a process, through a pipe; or, if the process may outlive the daemon, in a file for the next
 * daemon.
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
/* Removes the file, too. */
void spawn_output_free(SpawnOutput *output);
/* Keeps the file. */
void spawn_output_abandon(SpawnOutput *output);

/* Reads the rest of the pipe. Other processes may have the other end, so this does not wait for it to be closed. */
void spawn_output_finish(SpawnOutput *output);

/* A directory whose file system was full, so that the process may not have been able to write; borrowed. NULL: there
 * was room. */
const char *spawn_output_lacked_room(const SpawnOutput *output);

/* The output as text, without a newline at the end; invalid UTF-8 is replaced. */
json_object *spawn_output_to_json(const SpawnOutput *output);
/* The last line, if it is short enough to be quoted, or NULL. To be freed. */
char *spawn_output_last_line(const SpawnOutput *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnOutput, spawn_output_free)
