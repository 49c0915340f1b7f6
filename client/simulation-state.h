/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a simulation is made of. For its own files only: its life is in simulation.c, what its machine asks for in
 * simulation-host.c, and what is kept and told of what becomes of the nodes in simulation-record.c.
 */

#include "actor.h"
#include "definition/history.h"
#include "definition/node-locks.h"
#include "engine/machine.h"
#include "simulation.h"

/* Of a node, or of the machine itself. */
typedef struct NodeTimer {
        AgendaEntry *entry;
        uint64_t span;
} NodeTimer;

typedef struct Simulation {
        const Tree *tree;
        ActorContext context;
        SimulationObserver observer;
        void *userdata;

        Machine *machine;
        NodeTimer *timers; /* by node, the machine's is the last */
        uint32_t *starts;  /* by node */
        uint8_t *told;     /* by node: the status of a condition or by a guard that was told last; else IDLE */
        Locks *locks;
        NodeLocks *node_locks;
        History *history;
        NodeId refused; /* the last SubTree or ForEach for which its variables were wrong, until it has failed for that
                         */
        uint32_t n_ticks;
        bool halting;
        bool failed; /* with an ERROR */
} Simulation;

extern const MachineHost simulation_host;

void simulation_tell(Simulation *simulation, NodeId node, const char *what, const char *text);
void simulation_tell_status(Simulation *simulation, NodeId node, Status status, const char *text);

/* What the machine has told; see MachineHost. */
void simulation_record(Simulation *simulation, NodeId node, Status status, Reason reason);
/* The machine says what is wrong with the tree. */
void simulation_record_error(Simulation *simulation);

NodeTimer *simulation_timer(Simulation *simulation, NodeId node);
void simulation_drop_actor(Simulation *simulation, Actor *actor);

/* A node that has waited for it has its lock. */
void simulation_on_lock_granted(NodeId node, void *userdata);

/* For the actors. */
void simulation_on_ended(Actor *actor, void *userdata);
void simulation_on_changed(Actor *actor, void *userdata);
void simulation_on_remarked(NodeId node, const char *kind, const char *text, void *userdata);
