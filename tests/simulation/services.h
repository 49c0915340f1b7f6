/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Some services on the simulated bus, for DBusCall: the argument says which leaf it is that calls, and whether it may
 * do so twice. What they answer, and when, comes from the seed, the leaf and how often it has begun.
 */

#include <stdbool.h>
#include <stdint.h>

#define SERVICES_N 3u

/* silent: they may not answer at all. */
void services_open(uint64_t seed, bool silent);
void services_close(void);

/* One leaves the bus, or comes again. */
void services_toggle(unsigned number);
void services_all_join(void);
