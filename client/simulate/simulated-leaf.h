/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A simulated leaf, from its start to its end: it does what the scenario says, in simulated time, within the limits of
 * its own parameters.
 */

#include "client/simulate/event-queue.h"
#include "client/simulate/scenario.h"
#include "run/run-inputs.h"

typedef struct SimulatedLeaf SimulatedLeaf;

/* Shared by all leaves of a simulation. */
typedef struct SimulationContext {
        Run *run;
        const Scenario *scenario;
        EventQueue *queue;
        void (*ended)(SimulatedLeaf *leaf, void *userdata);   /* an action; never from within its start or halt */
        void (*changed)(SimulatedLeaf *leaf, void *userdata); /* a condition may have another value; at any time */
        /* For the trace: "log" or "warning". */
        void (*remarked)(NodeId node, const char *kind, const char *text, void *userdata);
        void *userdata;
} SimulationContext;

/* n: how often the node was started before. It may have ended when this returns: see its status. */
SimulatedLeaf *simulated_leaf_start(const SimulationContext *context, NodeId node, uint32_t n);
/* True: it has ended. False: ended() follows. */
bool simulated_leaf_halt(SimulatedLeaf *leaf);
void simulated_leaf_free(SimulatedLeaf *leaf);

NodeId simulated_leaf_node(const SimulatedLeaf *leaf);
/* RUNNING, or how it has ended; of a condition, its last value: RUNNING until that is known. */
Status simulated_leaf_status(const SimulatedLeaf *leaf);
/* Conditions only: evaluates it now. */
Status simulated_leaf_evaluate(SimulatedLeaf *leaf);
/* Has been halted, and has not ended yet. */
bool simulated_leaf_is_ending(const SimulatedLeaf *leaf);
/* Why it has failed, or NULL. Borrowed. */
Cause *simulated_leaf_cause(const SimulatedLeaf *leaf);
