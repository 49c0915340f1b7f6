/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the inhibitor locks that the Inhibit nodes of a live run hold or have requested.
 */

#include "run/inhibitor.h"
#include "run/run.h"

typedef struct NodeInhibitors NodeInhibitors;

/* done: the node has its lock (NULL), or it is refused. Called from the main loop. */
NodeInhibitors *node_inhibitors_new(const Run *run, const LeafServices *services,
                                    void (*done)(NodeId node, Cause *refused, void *userdata), void *userdata);
/* kept: the locks stay for the next btd. */
void node_inhibitors_free(NodeInhibitors *inhibitors, bool kept);

/* again: the node holds its lock, and btd was restarted. */
void node_inhibitors_take(NodeInhibitors *inhibitors, NodeId node, bool again);
void node_inhibitors_drop(NodeInhibitors *inhibitors, NodeId node);
/* Is a lock requested again, and not held yet? NULL: false. */
bool node_inhibitors_are_lost(const NodeInhibitors *inhibitors);
