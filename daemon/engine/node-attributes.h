/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Handles the attributes that any node can have besides its type: hooks, a lock, being uninterruptible; and the user's
 * breakpoints and forced outcomes. Trees without them pay nothing. node.c calls these functions.
 */

#include "engine/node.h"

/* Must the functions below be called for the node? */
static inline bool node_has_attributes(const Machine *machine, NodeId node) {
        return machine->nodes[node].flags & NODE_ATTRIBUTED || machine->attention & ATTENTION_CONTROLLED;
}

/* The following are only for nodes with attributes. */

/* Halts the node if it has a forced outcome, and returns that; IDLE: it has none. If the node is a condition that is
 * evaluated again, the outcome holds until attributes_clear_forced(). */
Status attributes_forced(Machine *machine, NodeId node);
void attributes_clear_forced(Machine *machine, NodeId from, NodeId end);
/* True: the node may start, or runs already. False: it waits, deferred. */
bool attributes_start(Machine *machine, NodeId node);
/* The node, or one below it, answered ERROR. */
void attributes_note_error(Machine *machine, NodeId node);
/* The node completes. Returns the status, or ERROR if a hook failed. */
Status attributes_complete(Machine *machine, NodeId node, Status status);

/* The node is halted. True: nothing else is to be halted; false: its type's halt must follow. */
bool attributes_halt(Machine *machine, NodeId node);
/* Does the node continue after its halt, being uninterruptible? An error ends that. */
bool attributes_continues(Machine *machine, NodeId node);
/* Has a node that continues, or a leaf that is ending, ended now? */
bool attributes_have_ended(Machine *machine, NodeId node);
/* Completes the halt of the node. Returns HALTED, or the outcome of an uninterruptible node. */
Status attributes_end(Machine *machine, NodeId node);
/* The leaf has ended after its halt. */
void attributes_leaf_ended(Machine *machine, NodeId leaf, Status status);

void attributes_make(Machine *machine);
