/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Cleans up after processes of Spawn that no leaf waits for any more, because the previous daemon was killed before it
 * could, or a run was lost: removes the units of processes that have ended, and their output files. Processes that
 * still run are left alone. main.c uses it.
 */

#include "bus/connection.h"
#include "leaves/spawn/spawn-name.h"

typedef struct SpawnSweep SpawnSweep;

/* Is there a leaf that started it and has not ended? */
typedef bool (*SpawnAwaited)(const SpawnName *name, void *userdata);

/* Of what there is now, and of units whenever systemd is back. outputs: as of LeafServices. */
SpawnSweep *spawn_sweep_new(Connection *connection, const char *outputs, SpawnAwaited awaited, void *userdata);
void spawn_sweep_free(SpawnSweep *sweep);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnSweep, spawn_sweep_free)
