/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Disturbs the runs: users start, halt, pause and force; services and the service manager leave the bus and return; the
 * bus is lost; the disk is full or read-only; the daemon is told to stop.
 */

#include <stdbool.h>

#include "dice.h"

/* none: users only start the trees that are not started automatically. */
void trouble_open(Dice dice, unsigned n_trees, bool none);

/* A user halts the runs of a tree; nothing without a daemon. */
void trouble_halt(unsigned tree);

/* To be called when no event is left. True: it has ended a disturbance, so that more may happen. */
bool trouble_settle(void);
