/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The locks that the nodes of one run hold or wait for.
 */

#include "basic/locks.h"
#include "definition/definition.h"

typedef struct NodeLocks NodeLocks;

/* All is borrowed. run: "boot.3", NULL: there is but one. granted: a node that waits has got its lock, at any time. */
NodeLocks *node_locks_new(Locks *locks, const Definition *definition, const char *run,
                          void (*granted)(NodeId node, void *userdata), void *userdata);
/* Lets go of all. */
void node_locks_free(NodeLocks *locks);

/* As MachineHost's lock and unlock. */
bool node_locks_take(NodeLocks *locks, NodeId node);
void node_locks_drop(NodeLocks *locks, NodeId node);

bool node_locks_has(const NodeLocks *locks, NodeId node);
/* Does it wait, by way of others, for itself? */
bool node_locks_is_deadlocked(const NodeLocks *locks, NodeId node);
/* What it waits for: "the lock 'disk', which boot.3 (Flash) holds". To be freed; NULL: for none. */
char *node_locks_describe(const NodeLocks *locks, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeLocks, node_locks_free)
