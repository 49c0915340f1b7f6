/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores the causes of a run's nodes, for their history, describes them, and makes those that are neither a leaf's own
 * nor passed on from a child. A cause outlives the status that it explains: it stays until the node succeeds or fails
 * again.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "run/variables.h"

/* All zero: no causes. */
typedef struct Causes {
        struct CauseTable *table; /* NULL until something fails */
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
/* The cause, if there is one, counts as set now. */
void causes_renew_serial(Causes *causes, NodeId node);

/* Is the cause told in a text for messages, and so has a text? Attempts, limits and elements of a list are, in addition
 * to the failure below them. Other causes that have one below add no information. */
bool cause_is_told(const Tree *tree, const Cause *cause);

/* A text for messages, relative to a node: "Camera/LoadConfig: exited with status 3", or only the text if the cause is
 * that node's own. NODE_NONE: the whole path. If a node only passes on the cause of a child, the text names the child.
 * To be freed. */
char *cause_describe(const Tree *tree, const Cause *cause, NodeId from);

/* The text of one cause of a chain; if the node only passes on the cause of a child, "LoadConfig failed". child: the
 * status of the node that the next cause of the chain is about, if there is one. To be freed. */
char *cause_describe_one(const Tree *tree, const Cause *cause, Status child);

/* For reason_is_answer(): a cause with the expression that decided, and the values that it read. */
Cause *reason_of_answer(const Definition *definition, const Variables *variables, NodeId node, Reason reason);

/* The time limit of the node has passed, which is its type's timeout, or else the parameter of the type that is a time
 * span. waited: see activity_waited(), or NULL. */
Cause *reason_of_timeout(const Tree *tree, NodeId node, uint64_t limit, const char *waited);
/* An action was halted, and given up after its halt_timeout. before: the reason of the halt, or NULL. */
Cause *reason_of_halt_timeout(const Definition *definition, NodeId node, const Cause *before);
bool cause_is_halt_timeout(const Cause *cause);
