/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs a process as a transient unit of systemd, with a control group and a journal of its own, for an execution.
 */

#include "bus/connection.h"
#include "leaves/spawn/spawn.h"

typedef struct SpawnUnit SpawnUnit;

/* A negative errno with an error message: a property is wrong. Errors of systemd come with ended. */
int spawn_unit_new(const SpawnRequest *request, Connection *connection, SpawnEnded ended, void *userdata,
                   SpawnUnit **ret_unit, char **ret_error);
/* Ends all its processes within the grace time. */
void spawn_unit_free(SpawnUnit *unit);
/* Leaves the unit running for the next daemon. */
void spawn_unit_abandon(SpawnUnit *unit);

/* True: it had not been asked for, and ended is not called. */
bool spawn_unit_stop(SpawnUnit *unit);

/* Is there one for the unit of this name? */
bool spawn_unit_is_watched(const char *name);

/* "unit btd-boot.3-7-1.service" */
void spawn_unit_describe(const SpawnUnit *unit, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnUnit, spawn_unit_free)
