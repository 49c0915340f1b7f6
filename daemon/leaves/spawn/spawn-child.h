/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a process as a child of the daemon, in a process group of its own, for an execution.
 */

#include "leaves/spawn/spawn-request.h"

typedef struct SpawnChild SpawnChild;

/* A thread starts the process; if that fails, the child ends with an error. The child takes the file descriptors of the
 * request. */
SpawnChild *spawn_child_new(const SpawnRequest *request, SpawnConfirmed confirmed, SpawnEnded ended, void *userdata);
/* The child that another daemon has started, by its memo. -ESRCH: it does not run any more. */
int spawn_child_find(const SpawnRequest *request, json_object *memo, SpawnEnded ended, void *userdata,
                     SpawnChild **ret_child);
/* Kills all processes of the group. */
void spawn_child_free(SpawnChild *child);

/* Asks it to end, and kills it after its grace time. */
void spawn_child_stop(SpawnChild *child);

/* Adds what identifies it to the memo. */
void spawn_child_note(const SpawnChild *child, json_object *memo);

/* "process 1234 (/usr/bin/foo)" */
void spawn_child_describe(const SpawnChild *child, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnChild, spawn_child_free)
