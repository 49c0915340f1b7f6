/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements node-connections.h. */

#include <assert.h>

#include "run/leaf.h"
#include "run/node-connections.h"

struct NodeConnections {
        const Run *run;
        const LeafServices *services;
        void (*changed)(NodeId node, Cause *lost, void *userdata);
        void *userdata;
        GHashTable *by_node; /* NodeId -> NodeConnection */
};

typedef struct NodeConnection {
        NodeConnections *all;
        NodeId node;
        OwnConnection *own; /* NULL: it was lost with the previous btd */
} NodeConnection;

static void on_changed(Cause *lost, void *userdata) {
        const NodeConnection *connection = userdata;

        connection->all->changed(connection->node, lost, connection->all->userdata);
}

NodeConnections *node_connections_new(const Run *run, const LeafServices *services,
                                      void (*changed)(NodeId node, Cause *lost, void *userdata), void *userdata) {
        NodeConnections *connections = g_new0(NodeConnections, 1);

        connections->run = run;
        connections->services = services;
        connections->changed = changed;
        connections->userdata = userdata;
        connections->by_node = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        return connections;
}

void node_connections_free(NodeConnections *connections) {
        GHashTableIter iter;
        void *node;

        if (!connections)
                return;

        g_hash_table_iter_init(&iter, connections->by_node);
        while (g_hash_table_iter_next(&iter, NULL, &node))
                if (((NodeConnection *) node)->own)
                        connections->services->own_connections->free(((NodeConnection *) node)->own);
        g_hash_table_unref(connections->by_node);
        g_free(connections);
}

static NodeConnection *add(NodeConnections *connections, NodeId node) {
        NodeConnection *connection = g_new0(NodeConnection, 1);

        connection->all = connections;
        connection->node = node;
        g_hash_table_insert(connections->by_node, GUINT_TO_POINTER(node), connection);
        return connection;
}

static const char *bus_of(const NodeConnections *connections, NodeId node) {
        const OwnConnectionParams *params = definition_tree(run_definition(connections->run))->nodes[node].params;

        return params->bus;
}

void node_connections_make(NodeConnections *connections, NodeId node) {
        NodeConnection *connection = add(connections, node);

        connection->own = connections->services->own_connections->make(connections->services, bus_of(connections, node),
                                                                       on_changed, connection);
}

void node_connections_add_lost(NodeConnections *connections, NodeId node) {
        (void) add(connections, node);
}

static NodeConnection *find(const NodeConnections *connections, NodeId node) {
        return g_hash_table_lookup(connections->by_node, GUINT_TO_POINTER(node));
}

void node_connections_drop(NodeConnections *connections, NodeId node) {
        NodeConnection *connection = find(connections, node);

        assert(connection);
        if (connection->own)
                connections->services->own_connections->free(connection->own);
        g_hash_table_remove(connections->by_node, GUINT_TO_POINTER(node));
}

bool node_connections_find(const NodeConnections *connections, NodeId node, const char *bus,
                           Connection **ret_connection) {
        const Node *nodes;

        if (!connections)
                return false;

        nodes = definition_tree(run_definition(connections->run))->nodes;
        for (NodeId id = nodes[node].parent; id != NODE_NONE; id = nodes[id].parent) {
                const NodeConnection *connection;

                if (!(nodes[id].type->flags & TYPE_CONNECTS) ||
                    !connections->services->own_connections->is_same_bus(connections->services, bus,
                                                                         bus_of(connections, id)))
                        continue;

                connection = find(connections, id);
                *ret_connection = connection && connection->own
                                          ? connections->services->own_connections->connection(connection->own)
                                          : NULL;
                return true;
        }
        return false;
}

const char *node_connections_name(const NodeConnections *connections, NodeId node) {
        const NodeConnection *connection = connections ? find(connections, node) : NULL;

        return connection && connection->own ? connections->services->own_connections->name(connection->own) : NULL;
}
