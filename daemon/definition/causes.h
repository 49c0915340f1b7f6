/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The causes of a run's nodes. A cause outlives the status that it is for: it stays until the node succeeds or fails
 * again.
 */

#include "basic/cause.h"
#include "engine/tree.h"

typedef struct Causes Causes;

/* The tree is borrowed. */
Causes *causes_new(const Tree *tree);
void causes_free(Causes *causes);

/* Takes the cause, of which nobody else may know yet unless it is the node's already. */
void causes_set(Causes *causes, NodeId node, Cause *cause);
void causes_drop(Causes *causes, NodeId node);

/* The nodes that have one, in the order in which they were set: of NodeId. */
GArray *causes_nodes(const Causes *causes);

/* Borrowed; NULL: none. */
Cause *causes_get(const Causes *causes, NodeId node);
/* The later it was set, the greater; 0: none. */
uint64_t causes_serial(const Causes *causes, NodeId node);

/* For people, seen from a node: "Camera/LoadConfig: exited with status 3", or only the text where it is that node's
 * own. NODE_NONE: the whole path. What a node only hands on from a child is told of the child. To be freed. */
char *cause_describe(const Tree *tree, const Cause *cause, NodeId from);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Causes, causes_free)
