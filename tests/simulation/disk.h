/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates how long the disk takes for the jobs of the daemon, which run in order: see basic/disk-queue.h.
 */

#include "dice.h"

/* slow: the percentage of jobs that take very long; 0: no job takes any time. */
void disk_simulate(Dice dice, unsigned slow);
