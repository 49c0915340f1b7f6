/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run of a tree without the world: how it comes on is up to the code of btd, the leaves do what a scenario says, and
 * time is simulated. The same tree, scenario and seed give the same events.
 */

#include "definition/definition.h"
#include "scenario.h"

/* After so many ticks a run is taken to be endless. */
#define SIMULATION_TICKS_MAX 1000000u

/* Something happens. what: a status in words, or
 *   "halting"  a leaf has been halted, and takes its time to end; or the whole run, as the scenario wants it
 *   "log"      the text is a leaf's message
 *   "warning"  the text says what would not work with a real leaf */
typedef struct SimulationEvent {
        uint64_t time; /* microseconds since the start */
        NodeId node;   /* NODE_NONE: the run itself; "running" is how it was left that did not end */
        const char *what;
        const char *text; /* why, or NULL */
} SimulationEvent;

typedef void (*SimulationObserver)(const SimulationEvent *event, void *userdata);

typedef struct SimulationOptions {
        json_object *variables; /* set in place of those of the tree: an object, or NULL; borrowed */
        uint64_t seed;
        uint64_t until; /* the run is left when so much time is over */
} SimulationOptions;

/* How it has ended, ERROR included; RUNNING when it has not: for lack of time, because nothing more can happen, or
 * because it is endless. The last event says so, too. */
Status simulate(Definition *definition, const Scenario *scenario, const SimulationOptions *options,
                SimulationObserver observer, void *userdata);
