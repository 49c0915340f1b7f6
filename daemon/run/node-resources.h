/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns what the nodes of a live run have outside of its machine: armed timers, at most one per node and one for the run
 * itself (NODE_NONE), and locks that they hold or wait for.
 */

#include <stdint.h>

#include "basic/locks.h"
#include "basic/timers.h"
#include "definition/definition.h"
#include "engine/tree.h"

typedef struct NodeTimers NodeTimers;

NodeTimers *node_timers_new(Timers *timers, void (*expired)(NodeId node, void *userdata), void *userdata);
void node_timers_free(NodeTimers *timers);

/* deadline: microseconds of the given clock. */
void node_timers_arm(NodeTimers *timers, NodeId node, TimerClock clock, uint64_t deadline);
void node_timers_drop(NodeTimers *timers, NodeId node);

typedef struct NodeLocks NodeLocks;

/* Borrows all arguments. run: "boot.3"; "": there is only one run. granted: a waiting node got its lock; may be
 * called at any time. */
NodeLocks *node_locks_new(Locks *locks, const Definition *definition, const char *run,
                          void (*granted)(NodeId node, void *userdata), void *userdata);
/* Releases all locks. */
void node_locks_free(NodeLocks *locks);

/* Would the node get its lock at once? */
bool node_locks_is_free(const NodeLocks *locks, NodeId node);
/* True: the node has its lock. False: it waits for it. */
bool node_locks_take(NodeLocks *locks, NodeId node);
void node_locks_drop(NodeLocks *locks, NodeId node);

bool node_locks_has(const NodeLocks *locks, NodeId node);
/* True if the node waits for itself, directly or through other waiting nodes. */
bool node_locks_is_deadlocked(const NodeLocks *locks, NodeId node);
/* A text for the lock that it waits for: "the lock 'disk', which boot.3 (Flash) holds". To be freed; NULL: none. */
char *node_locks_describe(const NodeLocks *locks, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeTimers, node_timers_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeLocks, node_locks_free)
