/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates a run of a tree: btd's own code runs it, the leaves do what a scenario says, and time is simulated. The
 * same tree, scenario and seed give the same events.
 */

#include "client/simulate/scenario.h"
#include "definition/definition.h"
#include "run/events.h"

/* After so many ticks a run counts as endless. */
#define SIMULATION_TICKS_MAX 1000000u
#define SIMULATION_ROUNDS_MAX 1000u

typedef struct SimulationOptions {
        json_object *variables; /* these replace variables of the tree: an object, or NULL; borrowed */
        const char *tree;       /* its name; NULL: none */
        const char *instance;   /* the same */
        uint64_t seed;
        uint64_t until; /* the simulation stops at this time */
} SimulationOptions;

/* The observer gets the events of the run, and without a number also
 *   "warning"  the text says what would fail with a real leaf, or what is not simulated
 *   "running"  the last event of a run that has not finished: the text says why
 * Returns the result of the run, ERROR included; RUNNING if it has not finished, because time was up, nothing more can
 * happen, or it is endless. */
Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                RunEventObserver observer, void *userdata);
