/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a simulation is made of. For its own files only: its life is in simulation.c, what its run asks of the world in
 * simulation-host.c, and what is told of it in simulation-events.c.
 */

#include "actor.h"
#include "definition/node-locks.h"
#include "simulation.h"

typedef struct Simulation {
        ActorContext context;
        const Tree *tree;
        SimulationObserver observer;
        void *userdata;

        AgendaEntry **timers; /* by node, the run's is the last */
        uint32_t *starts;     /* by node */
        uint8_t *told;        /* by node: a status; see simulation-events.c */
        Locks *locks;
        NodeLocks *node_locks;
        uint32_t n_ticks;
} Simulation;

extern const ProgressHost simulation_host;

/* A node that has waited for it has its lock. */
void simulation_on_lock_granted(NodeId node, void *userdata);

/* For the actors. */
void simulation_on_ended(Actor *actor, void *userdata);
void simulation_on_changed(Actor *actor, void *userdata);
void simulation_on_remarked(NodeId node, const char *kind, const char *text, void *userdata);

void simulation_tell(Simulation *simulation, NodeId node, const char *what, const char *text);
/* See ProgressObserver. */
extern const ProgressObserver simulation_progress_observer;
/* An action that had to wait does so no longer, or has ended after it was halted. */
void simulation_tell_started(Simulation *simulation, NodeId node);
void simulation_tell_halted(Simulation *simulation, NodeId node);
