/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A machine and the world that it acts on, for property tests. The node and the number of its requests decide the
 * answers of leaves, locks, code and lists, so two worlds with the same tree behave the same if their machines do.
 * world-rules.h has the rules that hold in all of them.
 */

#include "engine/machine.h"

/* A node's part of the world. */
typedef struct Site {
        unsigned asked; /* the number of requests with a random answer */
        Status value;   /* of a condition */
        bool fact;      /* the variable that the node reads */
        bool unknown;   /* the condition has no value yet */
        bool watching;  /* the condition is watched */
        bool running, ending;
        bool timer;
        bool waits, holds; /* for, or of, its lock */
        bool stopped, was_stopped, breakpoint, forced, skipped;
        bool seen, seen_fact; /* the last value that OnChange has read */
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

/* observing: the host is told of every change, so ticks take no short cuts. */
World *world_new(const Tree *tree, bool observing);
void world_free(World *world);

/* Makes an input for the node, if one is possible. status: the outcome of its leaf. Variables change only together with
 * another input. */
void world_input(World *world, NodeId node, Status status);
/* Requests of a user. */
void world_force(World *world, NodeId node, Status status);
void world_toggle_breakpoint(World *world, NodeId node);

/* Does the node hold something that it has not released? */
bool world_is_anything_left(const World *world, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)
