/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A machine and the world that it acts on, for property tests: what leaves, locks, code and lists answer follows from
 * the node and from how often it was asked, so that two worlds over the same tree go the same way if their machines
 * do. world-rules.h says what must hold in any of them.
 */

#include "engine/machine.h"

/* A node's part of the world. */
typedef struct Site {
        unsigned asked; /* how often something was asked that is answered by chance */
        Status value;   /* of a condition */
        bool fact;      /* the variable that the node looks at */
        bool unknown;   /* the condition's first value has not come yet */
        bool watching;  /* the condition's value is kept */
        bool running, ending;
        bool timer;
        bool waits, holds; /* for, or of, its lock */
        bool stopped, was_stopped, breakpoint, forced, skipped;
        bool seen, seen_fact; /* what OnChange has seen */
        /* See world-rules.c. */
        bool raised, owed, cut_off, active, halted, always_due;
        unsigned hooks[HOOK_MAX_], halts, begun;
} Site;

typedef struct World {
        const Tree *tree;
        MachineHost host;
        Machine *machine;
        GString *effects;
        Site *sites;
        bool interval;
        bool observing;
        unsigned now; /* the number of the tick */
        Status result;
} World;

/* observing: told of every change, which rules out short cuts in ticks. */
World *world_new(const Tree *tree, bool observing);
void world_free(World *world);

/* Something happens at the node, if anything can; status: what its leaf ends with. Variables change only with
 * something else. */
void world_input(World *world, NodeId node, Status status);
/* Somebody takes a hand. */
void world_force(World *world, NodeId node, Status status);
void world_toggle_breakpoint(World *world, NodeId node);

/* Anything that the node has asked for and not given back. */
bool world_is_anything_left(const World *world, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)
