/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A process as a child of the daemon, in a process group of its own.
 */

#include "leaves/spawn.h"

typedef struct SpawnChild SpawnChild;

/* A negative errno with a text for people: it could not be started. */
int spawn_child_new(const SpawnRequest *request, SpawnEnded ended, void *userdata, SpawnChild **ret_child,
                    char **ret_error);
/* Nothing of it is left alive. */
void spawn_child_free(SpawnChild *child);

/* Asks it to end, and makes it when it has had its time. */
void spawn_child_stop(SpawnChild *child);

/* "process 1234 (/usr/bin/foo)" */
void spawn_child_describe(const SpawnChild *child, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnChild, spawn_child_free)
