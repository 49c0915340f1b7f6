/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How long the disk takes for the jobs of the daemon, which are done in order: see basic/disk-queue.h.
 */

#include "dice.h"

/* slow: so many percent of the jobs take very long; 0: none takes any time. */
void disk_simulate(Dice dice, unsigned slow);
