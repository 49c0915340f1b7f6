/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What can be said of outcomes before anything runs, from the flags of the children: NODE_NEVER_FAILS,
 * NODE_NEVER_SUCCEEDS, NODE_MAY_SKIP, NODE_SLOW; and the warnings that follow from it.
 */

#include "engine/tree.h"

/* For NodeType.never: it has its child's outcomes. */
unsigned outlook_of_child(const Node *nodes, NodeId node);

/* For NodeType.never: takes the children before end one after the other while they succeed, or while they fail. */
unsigned outlook_in_sequence(const Node *nodes, NodeId node, NodeId end);
unsigned outlook_in_fallback(const Node *nodes, NodeId node, NodeId end);

/* The node never has this outcome (NODE_NEVER_*), nor is it passed over. */
static inline bool outlook_is_never(const Node *node, unsigned never) {
        return (node->flags & (never | NODE_MAY_SKIP)) == never;
}

/* It can only run for ever. */
static inline bool outlook_is_endless(const Node *node) {
        return outlook_is_never(node, NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS);
}

/* How many of the children may have the outcome that others never have. */
uint32_t outlook_count(const Node *nodes, NodeId node, unsigned never);

/* The first action that makes the node NODE_SLOW. */
NodeId outlook_slow_action(const Node *nodes, NodeId node);

/* For NodeType.check: is there a child before end which those behind it can never come after? */
char *outlook_check_sequence(const Tree *tree, NodeId node, NodeId end, bool *ret_is_error);
char *outlook_check_fallback(const Tree *tree, NodeId node, NodeId end, bool *ret_is_error);

/* For NodeType.check: the other can never run if this never has that outcome. */
char *outlook_check_other(const Tree *tree, NodeId node, unsigned never, NodeId other, bool *ret_is_error);
