/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What any node can have besides its type: code that is run behind it, a lock, that it is uninterruptible; and what
 * people do to it: breakpoints, and outcomes that are forced on it. Of no cost to trees without.
 */

#include "engine/node.h"

/* Is there anything here to be asked about the node? */
static inline bool node_has_attributes(const Machine *machine, NodeId node) {
        return machine->nodes[node].flags & NODE_ATTRIBUTED || machine->attention & ATTENTION_CONTROLLED;
}

/* The rest is for nodes that have. */

/* The outcome that was forced on it, after what runs of it was halted; IDLE: none. Where it is looked at again, the
 * outcome stands until those who look are through. */
Status attributes_forced(Machine *machine, NodeId node);
void attributes_forget_forced(Machine *machine, NodeId from, NodeId end);
/* Has it been let through by its guards, but not started yet? */
bool attributes_awaits_start(Machine *machine, NodeId node);
/* May it start, or does it run already? If not, it waits, deferred. */
bool attributes_start(Machine *machine, NodeId node);
/* An error comes from it, or from below it. */
void attributes_note_error(Machine *machine, NodeId node);
/* It completes: the status, or ERROR. */
Status attributes_complete(Machine *machine, NodeId node, Status status);

/* It is halted. Answers whether that is all that there is to halt; else its type's halt follows. */
bool attributes_halt(Machine *machine, NodeId node);
/* Does it go on, being uninterruptible? An error ends that. */
bool attributes_goes_on(Machine *machine, NodeId node);
/* Such a node, or a leaf that is ending: is it over? */
bool attributes_are_over(Machine *machine, NodeId node);
/* The halt of the node is over. What it came to: HALTED, or the outcome of one that was uninterruptible. */
Status attributes_end(Machine *machine, NodeId node);
/* The leaf has ended, after it was halted. */
void attributes_leaf_ended(Machine *machine, NodeId leaf, Status status);

void attributes_make(Machine *machine);
