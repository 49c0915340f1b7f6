/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs one simulation from a seed: a world, a few trees, and daemons that are killed, until all runs have ended. Then
 * it checks that everything was done, and nothing twice.
 */

#include <stdbool.h>
#include <stdint.h>

#define TREES_MOST 3u

typedef struct Tally {
        uint64_t simulations, runs, deaths, calls;
} Tally;

/* False: a rule was broken, see violation_text(). */
bool simulation_run(uint64_t seed, const char *directory, Tally *tally);
