/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a process as a transient unit of systemd, with a control group and a journal of its own, for an execution.
 */

#include "bus/connection.h"
#include "leaves/spawn/spawn-request.h"

typedef struct SpawnUnit SpawnUnit;

/* A negative errno with an error message: a property is wrong. Errors of systemd come with ended. */
int spawn_unit_new(const SpawnRequest *request, Connection *connection, SpawnConfirmed confirmed, SpawnEnded ended,
                   void *userdata, SpawnUnit **ret_unit, char **ret_error);
/* Ends all its processes within the grace time. */
void spawn_unit_free(SpawnUnit *unit);
/* Leaves the unit running for the next daemon. */
void spawn_unit_abandon(SpawnUnit *unit);

/* True: the unit had not been requested, and ended is not called. */
bool spawn_unit_stop(SpawnUnit *unit);
/* Would it return true? */
bool spawn_unit_stops_at_once(const SpawnUnit *unit);

/* "unit btd-boot.3-7-1.service" */
void spawn_unit_describe(const SpawnUnit *unit, GString *text);

/*
 * The name of a process, in the names of its unit and of its output files. It is made from the start of the leaf:
 * "boot.3-12-1". A later daemon finds both by it.
 */
typedef struct SpawnName {
        char *run;
        NodeId node;
        uint32_t attempt;
        unsigned repetition; /* of a program that the leaf runs again and again, from 1; else 0 */
} SpawnName;

/* To be freed. */
char *spawn_name_format(const Leaf *leaf, unsigned repetition);
/* Reads the name that stands between the prefix and the suffix of a text. Returns false if there is none. */
bool spawn_name_parse(const char *text, const char *prefix, const char *suffix, SpawnName *ret_name);
void spawn_name_clear(SpawnName *name);

#define SPAWN_UNIT_PREFIX "btd-"
#define SPAWN_UNIT_SUFFIX ".service"

/*
 * Cleans up after processes of Spawn that no leaf waits for any more, because the previous daemon was killed before it
 * could, or a run was lost: removes the units of processes that have ended, and their output files. Of processes
 * that still run, it ends those of Command, and leaves the others alone. main.c uses it.
 */
typedef struct SpawnSweep SpawnSweep;

/* Is there a leaf that started it and has not ended? */
typedef bool (*SpawnAwaited)(const SpawnName *name, void *userdata);

/* Cleans up what exists now, and the units again each time systemd comes back. outputs: the directory of the output
 * files, see LeafServices. */
SpawnSweep *spawn_sweep_new(Connection *connection, const char *outputs, SpawnAwaited awaited, void *userdata);
void spawn_sweep_free(SpawnSweep *sweep);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SpawnName, spawn_name_clear)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnSweep, spawn_sweep_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnUnit, spawn_unit_free)
