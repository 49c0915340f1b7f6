/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the locks that the nodes of a live run hold or wait for: those that runs of btd share, the inhibitor locks of
 * Inhibit nodes, and the connections of OwnConnection nodes. If LeafServices has nothing that gives the last two, a
 * node has its lock at once, and nothing is done.
 */

#include "run/run.h"

typedef struct NodeLocks NodeLocks;

/* Borrows all arguments. changed: a waiting node has its lock (NULL), or does not get it, or has lost it; then the
 * caller takes a reference to the cause. It may be called at any time. */
NodeLocks *node_locks_new(const Run *run, const RunServices *services,
                          void (*changed)(NodeId node, Cause *refused, void *userdata), void *userdata);
/* Releases all locks. left: the inhibitor locks stay for the next btd. NULL is accepted. */
void node_locks_free(NodeLocks *locks, bool left);

/* Would the node get its lock at once? */
bool node_locks_is_free(const NodeLocks *locks, NodeId node);
/* True: the node has its lock. False: it waits for it. again: it had the lock before btd was restarted. A connection is
 * lost then: the node has none until the lock is dropped. */
bool node_locks_take(NodeLocks *locks, NodeId node, bool again);
void node_locks_drop(NodeLocks *locks, NodeId node);

/* Is there a lock that the node has not only waited for? */
bool node_locks_has(const NodeLocks *locks, NodeId node);
/* True if the node waits for itself, directly or through other waiting nodes. */
bool node_locks_is_deadlocked(const NodeLocks *locks, NodeId node);
/* A text for the lock of another run that it waits for: "the lock 'disk', which boot.3 (Flash) holds". To be freed;
 * NULL: none. */
char *node_locks_describe(const NodeLocks *locks, NodeId node);
/* Is an inhibitor lock requested again, and not held yet? */
bool node_locks_are_lost(const NodeLocks *locks);

/* Is there a node above this one with a connection to this bus? NULL: it was lost. The nearest counts. */
bool node_locks_find_connection(const NodeLocks *locks, NodeId node, const char *bus, Connection **ret_connection);
/* ":1.42"; NULL: the node has no connection. */
const char *node_locks_connection_name(const NodeLocks *locks, NodeId node);
