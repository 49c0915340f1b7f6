/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The tick that begins an activation, below nodes whose types have a course: from leaf to leaf along the routes that
 * were worked out with the tree. The nodes in between are passed by, and nothing is written down for them, unless a
 * leaf goes on running.
 */

#include "engine/node.h"

/* The node has answered something that no route is made for, or there is more to mind by now: those that were passed
 * by on the way to it do the rest of their ticks. Actions are settled here, all else is. */
static __attribute__((noinline)) Status walk_interrupted(Machine *machine, NodeId root, NodeId node, Status status) {
        if (machine->nodes[node].flags & NODE_PLAIN_LEAF)
                status = leaf_settle(machine, node, status);

        while (node != root) {
                NodeId parent = machine->nodes[node].parent;

                status = machine->nodes[parent].type->course->resume(machine, parent, node, status);
                if (parent != root)
                        status = node_settle(machine, parent, status);
                node = parent;
        }

        return status;
}

/* Anything but an action without guards. */
static __attribute__((noinline)) Status begin_inner(Machine *machine, NodeId node) {
        return child_begin(machine, node);
}

Status node_walk(Machine *machine, NodeId root) {
        const Node *nodes = machine->nodes;
        const Route *routes = machine->routes;
        NodeId next = root + 1;

        while (nodes[next].flags & NODE_PASSED)
                next++;

        do {
                NodeId node = next;
                Status status;

                if (G_LIKELY(nodes[node].flags & NODE_PLAIN_LEAF))
                        status = machine->leaf_start(machine, node);
                else {
                        status = begin_inner(machine, node);
                        if (machine->attention & ATTENTION_NODES)
                                return walk_interrupted(machine, root, node, status);
                }

                /* Branches are predicted, so that what follows need not wait for the answer. */
                if (status == STATUS_SUCCESS)
                        next = routes[node].after[0];
                else if (G_LIKELY(status == STATUS_FAILURE))
                        next = routes[node].after[1];
                else
                        return walk_interrupted(machine, root, node, status);
        } while (!(next & ROUTE_OUT));

        return next & ~ROUTE_OUT;
}
