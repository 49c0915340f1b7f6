/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Controls that choose between children by a condition: IfThenElse once, WhileDoElse as long as it runs. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

static NodeId branch_of(const Node *nodes, NodeId node, bool holds) {
        NodeId first = nodes[node + 1].end, second = nodes[first].end;

        if (holds)
                return first;

        return second < nodes[node].end ? second : NODE_NONE;
}

/* What neither of the branches gives; without a third child it has the condition's FAILURE. */
static unsigned branch_never(const Node *nodes, NodeId node) {
        NodeId first = branch_of(nodes, node, true), second = branch_of(nodes, node, false);
        unsigned never = nodes[first].flags &
                         (second == NODE_NONE ? nodes[node + 1].flags | NODE_NEVER_SUCCEEDS : nodes[second].flags);

        return never & (TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS);
}

static char *if_then_else_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        NodeId condition = node + 1, second = branch_of(tree->nodes, node, false);
        char *text = outlook_check_other(tree, condition, NODE_NEVER_SUCCEEDS, branch_of(tree->nodes, node, true),
                                         ret_is_error);

        if (text || second == NODE_NONE)
                return text;

        return outlook_check_other(tree, condition, NODE_NEVER_FAILS, second, ret_is_error);
}

static Status if_then_else_choose(Machine *machine, NodeId node) {
        Status status = child_tick(machine, node + 1);

        if (status == STATUS_SKIPPED)
                return node_error(machine, node, "if-condition-skipped");
        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                node_state(machine, node)->position = branch_of(machine->nodes, node, status == STATUS_SUCCESS);

        return status;
}

static Status if_then_else_end(Machine *machine, NodeId node, Status status) {
        if (status == STATUS_SKIPPED)
                node_forget_counts_below(machine, node);

        return status;
}

/* The branch that was chosen is at position, 0 before that. */
static Status if_then_else_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (state->status == STATUS_IDLE)
                state->position = 0;

        if (state->position == 0) {
                Status status = if_then_else_choose(machine, node);

                if (status == STATUS_RUNNING || status == STATUS_ERROR)
                        return status;
                if (state->position == NODE_NONE)
                        return STATUS_FAILURE;
        }

        return if_then_else_end(machine, node, child_tick(machine, state->position));
}

const NodeType if_then_else_type = {
        .name = "IfThenElse",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_AT_CHILD,
        .min_children = 2,
        .max_children = 3,
        .summary = "Runs its second child if the first succeeds, else its third",
        .doc = "Its outcome is that of the child that was chosen. Without a third child the FAILURE of the first is "
               "its "
               "own. The condition is not looked at again. A skipped condition is an ERROR.",
        .tick = if_then_else_tick,
        .never = branch_never,
        .check = if_then_else_check,
};

static Status while_do_else_end(Machine *machine, NodeId node, Status status) {
        node_reset_reactive(machine, node);
        return status;
}

static Status while_do_else_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        NodeId branch, other;
        Status status;

        if (state->status == STATUS_IDLE)
                state->phase = STATUS_IDLE;

        status = node_look(machine, node);
        if (status == STATUS_RUNNING || status == STATUS_ERROR)
                return status;
        if (status == STATUS_SKIPPED) {
                node_reset_reactive(machine, node);
                return node_error(machine, node, "while-condition-skipped");
        }

        branch = branch_of(machine->nodes, node, status == STATUS_SUCCESS);
        if (branch == NODE_NONE)
                return while_do_else_end(machine, node, STATUS_FAILURE);

        other = branch_of(machine->nodes, node, status != STATUS_SUCCESS);
        if (other != NODE_NONE)
                node_reset(machine, other);

        if (node_is_fresh(machine, branch) && node_ending_beside(machine, node, branch))
                return STATUS_RUNNING;

        status = child_tick(machine, branch);
        return status == STATUS_RUNNING || status == STATUS_ERROR ? status : while_do_else_end(machine, node, status);
}

static char *while_do_else_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const Node *nodes = tree->nodes;

        if (!(nodes[node + 1].flags & NODE_SLOW))
                return if_then_else_check(tree, node, ret_is_error);

        *ret_is_error = false;
        return g_strdup_printf("the action '%s' is in the condition: it would be started again and again; "
                               "use an IfThenElse",
                               tree_node_name(tree, outlook_slow_action(nodes, node + 1)));
}

const NodeType while_do_else_type = {
        .name = "WhileDoElse",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_REACTIVE_FIRST,
        .min_children = 2,
        .max_children = 3,
        .summary = "Runs its second child while the first succeeds, and its third while it fails",
        .doc = "The condition is looked at as long as a branch runs; when it changes, the branch that runs is halted, "
               "and the other one is started when that has ended. Without a third child the FAILURE of the condition "
               "is "
               "its own. A skipped condition is an ERROR.",
        .tick = while_do_else_tick,
        .halt = node_reset_reactive,
        .never = branch_never,
        .check = while_do_else_check,
};
