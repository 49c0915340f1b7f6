/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates a run of a tree: btd's own code runs it, the leaves do what a scenario says, and time is simulated. The
 * same tree, scenario and seed give the same events.
 */

#include "client/simulate/scenario.h"
#include "definition/definition.h"

/* After so many ticks a run counts as endless. */
#define SIMULATION_TICKS_MAX 1000000u

/* what: a status in words, or
 *   "halting"  a leaf was halted and takes time to end; or the scenario halts the run
 *   "ready"    a node has made the run ready
 *   "waiting"  the node waits for the lock in the text
 *   "log"      the text is a leaf's message
 *   "warning"  the text says what would fail with a real leaf */
typedef struct SimulationEvent {
        uint64_t time; /* microseconds since the start */
        NodeId node;   /* NODE_NONE: the run; its last event is "running" if it has not finished */
        const char *what;
        const char *text; /* why, or NULL */
} SimulationEvent;

typedef void (*SimulationObserver)(const SimulationEvent *event, void *userdata);

typedef struct SimulationOptions {
        json_object *variables; /* these replace variables of the tree: an object, or NULL; borrowed */
        uint64_t seed;
        uint64_t until; /* the simulation stops at this time */
} SimulationOptions;

/* Returns the result of the run, ERROR included; RUNNING if it has not finished, because time was up, nothing more can
 * happen, or it is endless. The last event says which. */
Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                SimulationObserver observer, void *userdata);
