/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What processes of Spawn have left behind that nobody waits for any more, since a daemon before this one was killed
 * before it could clean up after them, or a run was lost: units of processes that have ended, and what they have
 * written. What still runs is left alone.
 */

#include "bus/connection.h"
#include "leaves/spawn-name.h"

typedef struct SpawnSweep SpawnSweep;

/* Is there a leaf that has started it, and has not ended? */
typedef bool (*SpawnAwaited)(const SpawnName *name, void *userdata);

/* Once, of what there is now. outputs: as of LeafServices. */
SpawnSweep *spawn_sweep_new(Connection *connection, const char *outputs, SpawnAwaited awaited, void *userdata);
void spawn_sweep_free(SpawnSweep *sweep);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnSweep, spawn_sweep_free)
