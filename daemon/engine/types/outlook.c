/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What follows from the children's outlook, for the types that share the reasoning. */

#include "engine/types/outlook.h"

#define OUTCOMES ((unsigned) (NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS))

unsigned outlook_of_child(const Node *nodes, NodeId node) {
        return nodes[node + 1].flags & OUTCOMES;
}

/* goes_on and stops: the outcome (as its NODE_NEVER_*) after which the next child follows, and the other one. */
static unsigned outlook_in_order(const Node *nodes, NodeId node, NodeId end, unsigned goes_on, unsigned stops) {
        unsigned never = stops;

        for (NodeId child = node + 1; child < end; child = nodes[child].end) {
                never &= nodes[child].flags;
                if (outlook_is_never(&nodes[child], goes_on))
                        return never | goes_on;
        }

        return never;
}

unsigned outlook_in_sequence(const Node *nodes, NodeId node, NodeId end) {
        return outlook_in_order(nodes, node, end, NODE_NEVER_SUCCEEDS, NODE_NEVER_FAILS);
}

unsigned outlook_in_fallback(const Node *nodes, NodeId node, NodeId end) {
        return outlook_in_order(nodes, node, end, NODE_NEVER_FAILS, NODE_NEVER_SUCCEEDS);
}

uint32_t outlook_count(const Node *nodes, NodeId node, unsigned never) {
        uint32_t n = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                n += !(nodes[child].flags & never);

        return n;
}

NodeId outlook_slow_action(const Node *nodes, NodeId node) {
        while (!(nodes[node].flags & NODE_LEAF))
                for (node++; !(nodes[node].flags & NODE_SLOW);)
                        node = nodes[node].end;

        return node;
}

static const char *verb_of(unsigned never) {
        return never == NODE_NEVER_SUCCEEDS ? "succeed" : "fail";
}

static char *check_in_order(const Tree *tree, NodeId node, NodeId end, unsigned goes_on, bool *ret_is_error) {
        const Node *nodes = tree->nodes;

        for (NodeId child = node + 1; nodes[child].end < end; child = nodes[child].end)
                if (outlook_is_never(&nodes[child], goes_on)) {
                        *ret_is_error = false;
                        return g_strdup_printf("'%s' can never %s, so what comes after it can never run",
                                               tree_node_name(tree, child), verb_of(goes_on));
                }

        return NULL;
}

char *outlook_check_sequence(const Tree *tree, NodeId node, NodeId end, bool *ret_is_error) {
        return check_in_order(tree, node, end, NODE_NEVER_SUCCEEDS, ret_is_error);
}

char *outlook_check_fallback(const Tree *tree, NodeId node, NodeId end, bool *ret_is_error) {
        return check_in_order(tree, node, end, NODE_NEVER_FAILS, ret_is_error);
}

char *outlook_check_other(const Tree *tree, NodeId node, unsigned never, NodeId other, bool *ret_is_error) {
        if (!(tree->nodes[node].flags & never))
                return NULL;

        *ret_is_error = false;
        return g_strdup_printf("'%s' can never %s, so '%s' can never run", tree_node_name(tree, node), verb_of(never),
                               tree_node_name(tree, other));
}
