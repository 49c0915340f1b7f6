/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulates the world of a machine for property tests. The node and the number of its requests decide the answers of
 * leaves, locks, code and lists, so two worlds with the same tree behave the same if their machines do. world-rules.h
 * has the rules that hold in all of them.
 */

#include "engine/machine.h"

/* A node's part of the world. */
typedef struct Site {
        unsigned n_requests; /* of those with a random answer */
        Status value;        /* of a condition */
        bool variable;       /* the variable that the node reads */
        bool unknown;        /* the condition has no value yet */
        bool watched;        /* the condition is watched */
        bool running, ending;
        bool timer_armed;
        bool waits_for_lock, holds_lock;
        bool has_breakpoint, at_breakpoint, was_at_breakpoint;
        bool forced, skipped;
        bool has_read, last_read; /* the last value that OnChange has read */
        /* For the rules in world-rules.c: */
        bool active, halted;                  /* as reported: RUNNING; halted while it was */
        bool guard_error;                     /* one of its guards had an error */
        bool cleanup_due;                     /* of a Finally: its body has begun */
        bool timed_out;                       /* its timer has expired */
        bool on_always_due;                   /* on_success, on_failure or on_halted has run */
        unsigned begin_tick;                  /* of the body of a Finally */
        unsigned n_hooks[HOOK_MAX_], n_halts; /* not yet matched with each other */
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
