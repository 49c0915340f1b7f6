/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tracks the locks that the nodes of one run hold or wait for. */

#include "basic/locks.h"
#include "definition/definition.h"

typedef struct NodeLocks NodeLocks;

/* Borrows all arguments. run: "boot.3"; "": there is only one run. granted: a waiting node got its lock; may be
 * called at any time. */
NodeLocks *node_locks_new(Locks *locks, const Definition *definition, const char *run,
                          void (*granted)(NodeId node, void *userdata), void *userdata);
/* Releases all locks. */
void node_locks_free(NodeLocks *locks);

/* As MachineHost's lock and unlock. */
bool node_locks_take(NodeLocks *locks, NodeId node);
void node_locks_drop(NodeLocks *locks, NodeId node);

bool node_locks_has(const NodeLocks *locks, NodeId node);
/* True if the node waits for itself, directly or through other waiting nodes. */
bool node_locks_is_deadlocked(const NodeLocks *locks, NodeId node);
/* A text for the lock that it waits for: "the lock 'disk', which boot.3 (Flash) holds". To be freed; NULL: none. */
char *node_locks_describe(const NodeLocks *locks, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeLocks, node_locks_free)
