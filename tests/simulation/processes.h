/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The children of the daemon, which end with it; none of them is real. Their arguments say which leaf they are for.
 */

#include <stdint.h>

void processes_open(uint64_t seed);
void processes_close(void);

/* The daemon is gone, and all of them with it. */
void processes_end(void);
