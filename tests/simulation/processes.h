/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates the child processes of the daemon, which end with it. Their arguments name their leaf.
 */

#include <stdint.h>

void processes_open(uint64_t seed);
void processes_close(void);

/* The daemon is gone, and all of them with it. */
void processes_end(void);
