/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Computes possible outcomes, and the warnings that follow, for the node types that share the reasoning. */

#include "engine/types/outcome-analysis.h"

#define OUTCOMES ((unsigned) (NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS))

unsigned outcomes_of_child(const Node *nodes, NodeId node) {
        return nodes[node + 1].flags & OUTCOMES;
}

/* continue_on: the outcome (as its NODE_NEVER_*) after which the next child follows. stop_on: the other one. */
static unsigned outcomes_in_order(const Node *nodes, NodeId node, NodeId end, unsigned continue_on, unsigned stop_on) {
        unsigned never = stop_on;

        for (NodeId child = node + 1; child < end; child = nodes[child].end) {
                never &= nodes[child].flags;
                if (outcome_is_impossible(&nodes[child], continue_on))
                        return never | continue_on;
        }

        return never;
}

unsigned outcomes_in_sequence(const Node *nodes, NodeId node, NodeId end) {
        return outcomes_in_order(nodes, node, end, NODE_NEVER_SUCCEEDS, NODE_NEVER_FAILS);
}

unsigned outcomes_in_fallback(const Node *nodes, NodeId node, NodeId end) {
        return outcomes_in_order(nodes, node, end, NODE_NEVER_FAILS, NODE_NEVER_SUCCEEDS);
}

uint32_t outcomes_count(const Node *nodes, NodeId node, unsigned never) {
        uint32_t n = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                n += !(nodes[child].flags & never);

        return n;
}

NodeId find_slow_action(const Node *nodes, NodeId node) {
        while (!(nodes[node].flags & NODE_LEAF))
                for (node++; !(nodes[node].flags & NODE_SLOW);)
                        node = nodes[node].end;

        return node;
}

static const char *verb_of(unsigned never) {
        return never == NODE_NEVER_SUCCEEDS ? "succeed" : "fail";
}

static void check_in_order(const Tree *tree, NodeId node, NodeId end, unsigned continue_on, Findings *findings) {
        const Node *nodes = tree->nodes;

        for (NodeId child = node + 1; nodes[child].end < end; child = nodes[child].end)
                if (outcome_is_impossible(&nodes[child], continue_on)) {
                        findings_trap(findings, NULL, "'%s' can never %s, so the nodes after it can never run",
                                      tree_node_name(tree, child), verb_of(continue_on));
                        return;
                }
}

void outcomes_check_sequence(const Tree *tree, NodeId node, NodeId end, Findings *findings) {
        check_in_order(tree, node, end, NODE_NEVER_SUCCEEDS, findings);
}

void outcomes_check_fallback(const Tree *tree, NodeId node, NodeId end, Findings *findings) {
        check_in_order(tree, node, end, NODE_NEVER_FAILS, findings);
}

void outcomes_check_other(const Tree *tree, NodeId node, unsigned never, NodeId other, Findings *findings) {
        if (tree->nodes[node].flags & never)
                findings_trap(findings, NULL, "'%s' can never %s, so '%s' can never run", tree_node_name(tree, node),
                              verb_of(never), tree_node_name(tree, other));
}
