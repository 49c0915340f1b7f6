/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Computes the possible outcomes of a node when a tree is loaded, from the flags of its children: NODE_NEVER_FAILS,
 * NODE_NEVER_SUCCEEDS, NODE_MAY_SKIP, NODE_SLOW; and warns of nodes that can never run. The node types use it.
 */

#include "engine/tree.h"

/* For NodeType.never of a type with the same outcomes as its child. */
unsigned outcomes_of_child(const Node *nodes, NodeId node);

/* For NodeType.never of a type that runs its children before end in order, while they succeed or while they fail. */
unsigned outcomes_in_sequence(const Node *nodes, NodeId node, NodeId end);
unsigned outcomes_in_fallback(const Node *nodes, NodeId node, NodeId end);

/* The node never has this outcome (NODE_NEVER_*), and is never skipped. */
static inline bool outcome_is_impossible(const Node *node, unsigned never) {
        return (node->flags & (never | NODE_MAY_SKIP)) == never;
}

/* The node never completes. */
static inline bool node_runs_forever(const Node *node) {
        return outcome_is_impossible(node, NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS);
}

/* The number of children that may have the outcome. */
uint32_t outcomes_count(const Node *nodes, NodeId node, unsigned never);

/* The first action that makes the node NODE_SLOW. */
NodeId find_slow_action(const Node *nodes, NodeId node);

/* For NodeType.check: warns if a child before end keeps the children after it from ever running. */
void outcomes_check_sequence(const Tree *tree, NodeId node, NodeId end, Findings *findings);
void outcomes_check_fallback(const Tree *tree, NodeId node, NodeId end, Findings *findings);

/* For NodeType.check: warns that the other node can never run if this one never has the outcome. */
void outcomes_check_other(const Tree *tree, NodeId node, unsigned never, NodeId other, Findings *findings);
