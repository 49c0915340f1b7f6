/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A process as a transient unit of systemd: with a control group and a journal of its own.
 */

#include "bus/connection.h"
#include "leaves/spawn.h"

typedef struct SpawnUnit SpawnUnit;

/* A negative errno with a text for people: a property is wrong. What systemd says comes with ended. */
int spawn_unit_new(const SpawnRequest *request, Connection *connection, SpawnEnded ended, void *userdata,
                   SpawnUnit **ret_unit, char **ret_error);
/* Nothing of it is left, in time. */
void spawn_unit_free(SpawnUnit *unit);
/* It goes on, for the next daemon. */
void spawn_unit_abandon(SpawnUnit *unit);

/* True: it had not been asked for, and ended is not called. */
bool spawn_unit_stop(SpawnUnit *unit);

/* "unit btd-boot.3-7-1.service" */
void spawn_unit_describe(const SpawnUnit *unit, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpawnUnit, spawn_unit_free)
