/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ParallelAll: all children at once, and all of them to their end. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

typedef struct ParallelAllParams {
        int64_t max_failures;
} ParallelAllParams;

static uint32_t max_failures(const Node *definition) {
        const ParallelAllParams *params = definition->params;
        int64_t n = definition->n_children, max = params->max_failures;

        return (uint32_t) (max < 0 ? MAX(0, n + max + 1) : max);
}

/* RUNNING, or why there is nothing more to tick. */
static Status verdict(Machine *machine, NodeId node, uint32_t skipped) {
        const NodeState *state = node_state(machine, node);
        const Node *definition = &machine->nodes[node];

        if (skipped == definition->n_children)
                return STATUS_SKIPPED;
        if (skipped + state->successes + state->failures < definition->n_children)
                return STATUS_RUNNING;
        if (state->failures < max_failures(definition))
                return STATUS_SUCCESS;

        machine->reason = REASON_THRESHOLD;
        return STATUS_FAILURE;
}

static Status visit(Machine *machine, NodeId node, NodeId child) {
        NodeState *state = node_state(machine, node), *child_state = node_state(machine, child);
        bool took_time = child_state->status == STATUS_RUNNING;
        Status status;

        /* As in Parallel. */
        if (child_state->flags & STATE_DONE)
                return STATUS_IDLE;
        if (!took_time)
                index_set_remove_range(&machine->marked, child, machine->nodes[child].end);

        status = child_tick(machine, child);
        if (status == STATUS_SKIPPED)
                node_visit_again(machine, child, took_time);
        if (status != STATUS_SUCCESS && status != STATUS_FAILURE)
                return status;

        child_state->flags |= STATE_DONE;
        index_set_remove(&machine->sticky, child);
        state->successes += status == STATUS_SUCCESS;
        state->failures += status == STATUS_FAILURE;
        return status;
}

static Status parallel_all_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const Node *definition = &machine->nodes[node];
        bool all = machine->full || state->status == STATUS_IDLE;
        uint32_t skipped = 0;
        Status status;

        if (state->status == STATUS_IDLE) {
                if (max_failures(definition) > definition->n_children)
                        return node_error(machine, node, "threshold-exceeds-children");

                state->successes = state->failures = 0;
        }

        for (NodeId child = child_next(machine, node, node + 1, all); child < definition->end;
             child = child_next(machine, node, machine->nodes[child].end, all)) {
                status = visit(machine, node, child);
                if (status == STATUS_ERROR)
                        return status;

                skipped += status == STATUS_SKIPPED;
        }

        status = verdict(machine, node, skipped);
        if (status != STATUS_RUNNING)
                node_reset_children(machine, node);
        return status;
}

static unsigned parallel_all_never(const Node *nodes, NodeId node) {
        uint32_t n_sure_failures = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
                if (outlook_is_endless(&nodes[child]))
                        return TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS;

                n_sure_failures += outlook_is_never(&nodes[child], NODE_NEVER_SUCCEEDS);
        }

        if (n_sure_failures >= max_failures(&nodes[node]))
                return TYPE_NEVER_SUCCEEDS;

        return outlook_count(nodes, node, NODE_NEVER_FAILS) < max_failures(&nodes[node]) ? TYPE_NEVER_FAILS : 0;
}

static char *parallel_all_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const Node *nodes = tree->nodes;

        *ret_is_error = false;
        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                if (outlook_is_endless(&nodes[child]))
                        return g_strdup_printf("it can never be decided: '%s' never ends", tree_node_name(tree, child));

        if (max_failures(&nodes[node]) > nodes[node].n_children)
                return g_strdup_printf(
                        "max_failures is higher than the number of children (%u): the run will end in ERROR here",
                        nodes[node].n_children);

        return NULL;
}

static const Param parallel_all_params[] = {
        { .name = "max_failures",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelAllParams, max_failures),
          .fallback = "1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many failures make it fail; negative: counted from the number of children" },
        {},
};

const NodeType parallel_all_type = {
        .name = "ParallelAll",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = parallel_all_params,
        .params_size = sizeof(ParallelAllParams),
        .summary = "Runs its children at the same time, all of them to their end",
        .doc = "When all children have ended: FAILURE when max_failures of them or more have failed, else SUCCESS, or "
               "SKIPPED when all were skipped. No child is halted because another one has failed. A skipped child is "
               "tried again as long as others run. A max_failures that is higher than the number of children is an "
               "ERROR.",
        .tick = parallel_all_tick,
        .never = parallel_all_never,
        .check = parallel_all_check,
};
