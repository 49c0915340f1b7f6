/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates runs of definitions, and gives their traces as text, in ASCII. Tests write trees as in tree-text.h.
 */

#include "client/simulate/simulation.h"
#include "tree-text.h"

/* How many events there are. */
unsigned simulated_count(Definition *definition, const char *script, const SimulationOptions *options,
                         Status *ret_status);

/* A run that is called "run". until 0: an hour. To be freed. */
char *simulated_play(Definition *definition, const char *script, const SimulationOptions *options, bool json,
                     Status *ret_status);
