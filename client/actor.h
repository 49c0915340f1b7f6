/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A leaf of a simulation, from its start to its end: it does what the scenario says, in simulated time, within the
 * limits of its own parameters.
 */

#include "agenda.h"
#include "journal/progress.h"
#include "scenario.h"

typedef struct Actor Actor;

/* What all actors of a simulation share. */
typedef struct ActorContext {
        Progress *progress; /* of the run */
        const Scenario *scenario;
        Agenda *agenda;
        void (*ended)(Actor *actor, void *userdata);   /* an action; not from within its start or halt */
        void (*changed)(Actor *actor, void *userdata); /* a condition may have another value; at any time */
        /* Something is worth telling: "log", "warning". */
        void (*remarked)(NodeId node, const char *kind, const char *text, void *userdata);
        void *userdata;
} ActorContext;

/* n: how often the node has been started before. Look at its status: it may be over already. */
Actor *actor_start(const ActorContext *context, NodeId node, uint32_t n);
/* True: has ended. False: ended() will follow. */
bool actor_halt(Actor *actor);
void actor_free(Actor *actor);

NodeId actor_node(const Actor *actor);
/* RUNNING, or how it has ended; of a condition, the value that was seen last: RUNNING while that is not known. */
Status actor_status(const Actor *actor);
/* Conditions only: the value as it is now. */
Status actor_look(Actor *actor);
/* Has been halted and not ended yet. */
bool actor_is_ending(const Actor *actor);
/* Why it has failed, or NULL. Borrowed. */
Cause *actor_cause(const Actor *actor);
