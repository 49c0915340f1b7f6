/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One simulation: a world, a few trees, and daemons that die, all of it from a seed; until all runs have ended, and
 * then a look at whether everything was done, and nothing twice.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct Tally {
        uint64_t simulations, runs, deaths, calls;
} Tally;

/* False: a rule was broken, see violation_text(). */
bool simulation_run(uint64_t seed, const char *directory, Tally *tally);
