/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the connections that the OwnConnection nodes of a live run have, or wait for.
 */

#include "run/own-connection.h"
#include "run/run.h"

typedef struct NodeConnections NodeConnections;

/* changed: the node has its connection (NULL), does not get it, or has lost it. Called from the main loop. */
NodeConnections *node_connections_new(const Run *run, const LeafServices *services,
                                      void (*changed)(NodeId node, Cause *lost, void *userdata), void *userdata);
void node_connections_free(NodeConnections *connections);

void node_connections_make(NodeConnections *connections, NodeId node);
/* The node had one, which was lost when btd was restarted. */
void node_connections_add_lost(NodeConnections *connections, NodeId node);
void node_connections_drop(NodeConnections *connections, NodeId node);

/* Is there a node above this one with a connection to this bus? NULL: it was lost. The nearest counts.
 * connections NULL: false. */
bool node_connections_find(const NodeConnections *connections, NodeId node, const char *bus,
                           Connection **ret_connection);
/* ":1.42"; NULL: the node has none. */
const char *node_connections_name(const NodeConnections *connections, NodeId node);
