/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What else happens while runs are under way: users start, halt, pause and force, services and the service manager
 * leave the bus and come again, the bus is lost, the disk is full or read-only, the daemon is told to stop.
 */

#include <stdbool.h>

#include "dice.h"

/* none: only the users who start what does not start itself. */
void trouble_open(Dice dice, unsigned n_trees, bool none);

/* There is nothing left to be waited for. True: something was put right, and more may happen now. */
bool trouble_settle(void);
