/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The kind of all leaves of a simulation: a leaf does what the scenario says, in simulated time. Its run gives it the
 * limits of its own parameters, as it does for real leaves.
 */

#include "client/simulate/scenario.h"
#include "run/leaf.h"

/* Shared by all leaves of a simulation. */
typedef struct SimulationContext {
        LeafServices services; /* must be the first member */
        const Scenario *scenario;
        const Tree *tree;
        /* The leaf has just started. status: RUNNING, or the outcome; for a condition, its value. */
        void (*started)(NodeId node, Status status, void *userdata);
        /* For the trace: "log" or "warning". */
        void (*remarked)(NodeId node, const char *kind, const char *text, void *userdata);
        void *userdata;
} SimulationContext;

/* For the services. */
const LeafKind *simulated_kind_of(const NodeType *type);
