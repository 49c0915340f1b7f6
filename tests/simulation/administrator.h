/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * An administrator who starts, stops, restarts, reloads and resets units, while the daemon runs and while it is away,
 * and lets systemd read its configuration again; and how long the daemon is away. See troubles.c.
 */

#include <stdint.h>

void administrator_open(unsigned n_trees);

/* The daemon has ended, and the next one is to begin after this time, if no trouble makes it longer. Returns the time.
 * Plans what happens until then. */
uint64_t administrator_span(uint64_t usec);
