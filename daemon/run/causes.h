/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores the causes of a run's nodes, for their history. A cause outlives the status that it explains: it stays until
 * the node succeeds or fails again.
 */

#include "basic/cause.h"
#include "engine/tree.h"

/* All zero: no causes. */
typedef struct Causes {
        GHashTable *entries; /* by node; NULL until something fails */
        uint64_t last_serial;
} Causes;

void causes_clear(Causes *causes);

/* Takes the cause. Nothing else may refer to it yet, unless it is already this node's cause. */
void causes_set(Causes *causes, NodeId node, Cause *cause);
void causes_drop(Causes *causes, NodeId node);

/* The nodes that have a cause, in the order in which the causes were set: an array of NodeId. */
GArray *causes_nodes(const Causes *causes);

/* Borrowed; NULL: none. */
Cause *causes_get(const Causes *causes, NodeId node);
/* The later the cause was set, the greater; 0: none. */
uint64_t causes_serial(const Causes *causes, NodeId node);

/* A text for messages, relative to a node: "Camera/LoadConfig: exited with status 3", or only the text if the cause is
 * that node's own. NODE_NONE: the whole path. If a node only passes on the cause of a child, the text names the child.
 * To be freed. */
char *cause_describe(const Tree *tree, const Cause *cause, NodeId from);

/* The text of one cause of a chain; if the node only passes on the cause of a child, "LoadConfig failed". child: the
 * status of the node that the next cause of the chain is about, if there is one. To be freed. */
char *cause_describe_one(const Tree *tree, const Cause *cause, Status child);
