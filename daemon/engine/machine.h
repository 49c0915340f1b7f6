/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The deterministic machine that executes one tree: inputs in, effects out. The same tree and
 * the same inputs give the same states and the same effects in the same order.
 *
 * Inputs say what happened; they only mark the path from their node to the root. machine_tick()
 * then walks the marked paths and asks the host for effects. Nothing here reads a clock, does
 * I/O, or allocates after machine_new().
 *
 * Halting is awaited: a leaf may answer its halt with "ending", and what comes after it waits
 * for the machine_leaf_ended() that follows.
 */

#include "engine/tree.h"

/* Why a node failed or was skipped, as far as the engine itself knows. */
typedef enum Reason {
        REASON_NONE,      /* follows from its leaf or its children */
        REASON_TIMEOUT,   /* a Timeout's limit has passed */
        REASON_ATTEMPTS,  /* no attempts are left */
        REASON_THRESHOLD, /* a Parallel can no longer succeed */
        REASON_GUARD,     /* a guard said so */
        REASON_MAX_,
} Reason;

typedef enum Guard {
        GUARD_FAIL_IF,
        GUARD_SUCCESS_IF,
        GUARD_SKIP_IF,
        GUARD_WHILE,
} Guard;

/* When the code of a node is run: behind its success, failure or halt, and behind any of them. */
typedef enum Hook {
        HOOK_SUCCESS,
        HOOK_FAILURE,
        HOOK_HALTED,
        HOOK_ALWAYS,
        HOOK_MAX_,
} Hook;

/*
 * What a machine wants done. None of these may call back into the machine.
 *
 * Actions: leaf_start answers RUNNING, or the outcome when the leaf completes at once. leaf_halt answers true when the
 * leaf has ended; false when it is ending: then machine_leaf_ended() must follow (whatever status it gives is ignored).
 *
 * Conditions: condition_look answers what the value is now, RUNNING while that is not known. From the first look until
 * condition_release, machine_condition_changed() must follow each time that the answer would be another.
 */
typedef struct MachineHost {
        Status (*leaf_start)(Machine *machine, NodeId node);
        bool (*leaf_halt)(Machine *machine, NodeId node);
        Status (*condition_look)(Machine *machine, NodeId node);
        void (*condition_release)(Machine *machine, NodeId node);
        /* For hosts whose running leaves have to be asked at every tick (scripted ones); else NULL. */
        Status (*leaf_poll)(Machine *machine, NodeId node);
        /* One timer a node, and one for the machine itself (NODE_NONE). */
        void (*timer_arm)(Machine *machine, NodeId node, uint64_t usec);
        void (*timer_disarm)(Machine *machine, NodeId node);
        /* May be NULL where no node is guarded: does the guard hold? Where the node has none of the kind, only a
         * GUARD_WHILE does. */
        bool (*guard)(Machine *machine, NodeId node, Guard guard);
        /* For Precondition: is the variable true? */
        bool (*test)(Machine *machine, NodeId node, const char *variable);
        /* For Switch: which of the cases the variable is, or their number when it is none. */
        uint32_t (*match)(Machine *machine, NodeId node, const char *variable, const char *const *cases);
        /* For Loop: puts an element of the list into the variable; 0 takes a fresh copy of the list. False: there is
         * no such element. */
        bool (*next_element)(Machine *machine, NodeId node, const char *list, const char *variable, uint32_t index);
        /* Told of every change: a node started running, or completed, or was halted. May be NULL. */
        void (*changed)(Machine *machine, NodeId node, Status status, Reason reason);
} MachineHost;

/* Borrows all three. seed: for jitter; the same seed gives the same delays. */
Machine *machine_new(const Tree *tree, const MachineHost *host, void *userdata, uint64_t seed);
void machine_free(Machine *machine);

const Tree *machine_tree(const Machine *machine);
void *machine_userdata(const Machine *machine);

/* Inputs. */
void machine_start(Machine *machine);
void machine_halt(Machine *machine);
void machine_leaf_ended(Machine *machine, NodeId leaf, Status status);
void machine_condition_changed(Machine *machine, NodeId leaf);
void machine_timer_expired(Machine *machine, NodeId node);

/* Has something happened that a tick should look at? */
bool machine_wants_tick(const Machine *machine);

/* One propagation; where nothing runs yet, the first of an activation. RUNNING, or how it ended: SUCCESS, FAILURE,
 * SKIPPED, HALTED (after machine_halt(), when the last leaf has really ended) or ERROR (then machine_error() says why,
 * and machine_halt() and further ticks are still needed to stop what runs). */
Status machine_tick(Machine *machine);

/* The same with every running node looked at: what machine_tick() must be indistinguishable from. */
Status machine_tick_full(Machine *machine);

/* What is wrong with the tree, and where; NULL when nothing is. */
const char *machine_error(const Machine *machine, NodeId *ret_node);

Status machine_node_status(const Machine *machine, NodeId node);
/* Halted, and not yet ended. */
bool machine_node_ending(const Machine *machine, NodeId node);
/* A slot of the host for each node; NULL at first. */
void *machine_node_data(const Machine *machine, NodeId node);
void machine_node_set_data(Machine *machine, NodeId node, void *data);

/* Did a node ask, during the last tick or halt, to be ticked again at once? */
bool machine_woke(const Machine *machine);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Machine, machine_free)
