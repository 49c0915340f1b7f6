/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* ParallelAll: a control that runs all children at the same time, and waits for all of them. */

#include "engine/node.h"
#include "engine/types/outcome-analysis.h"
#include "engine/types/types.h"

typedef struct ParallelAllParams {
        int64_t max_failures;
} ParallelAllParams;

static uint32_t max_failures(const Node *definition) {
        const ParallelAllParams *params = definition->params;
        int64_t n = definition->n_children, max = params->max_failures;

        return (uint32_t) (max < 0 ? MAX(0, n + max + 1) : max);
}

/* RUNNING, or the outcome if all children have completed. */
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
        Status status;

        /* As in Parallel. */
        if (child_state->flags & STATE_DONE)
                return STATUS_IDLE;
        if (node_is_fresh(machine, child))
                index_set_remove_range(&machine->marked, child, machine->nodes[child].end);

        status = child_try(machine, child);
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
                node_reset_tried(machine, node);
        return status;
}

static unsigned parallel_all_never(const Node *nodes, NodeId node) {
        uint32_t n_sure_failures = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
                if (node_runs_forever(&nodes[child]))
                        return TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS;

                n_sure_failures += outcome_is_impossible(&nodes[child], NODE_NEVER_SUCCEEDS);
        }

        if (n_sure_failures >= max_failures(&nodes[node]))
                return TYPE_NEVER_SUCCEEDS;

        return outcomes_count(nodes, node, NODE_NEVER_FAILS) < max_failures(&nodes[node]) ? TYPE_NEVER_FAILS : 0;
}

static void parallel_all_check(const Tree *tree, NodeId node, Findings *findings) {
        const Node *nodes = tree->nodes;

        if (max_failures(&nodes[node]) > nodes[node].n_children)
                findings_error(findings, "max_failures", -1,
                               "max_failures: %u is higher than the number of children, %u", max_failures(&nodes[node]),
                               nodes[node].n_children);

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                if (node_runs_forever(&nodes[child])) {
                        findings_trap(findings, NULL, "it can never complete: '%s' never ends",
                                      tree_node_name(tree, child));
                        return;
                }
}

static const Param parallel_all_params[] = {
        { .name = "max_failures",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelAllParams, max_failures),
          .fallback = "1",
          .min = -1000000,
          .max = 1000000,
          .doc = "How many failures make it fail; negative: counted from the number of children, -1 is all" },
        {},
};

const NodeType parallel_all_type = {
        .name = "ParallelAll",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_TRIES_AGAIN,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = parallel_all_params,
        .params_size = sizeof(ParallelAllParams),
        .summary = "Runs its children at the same time and waits for all of them",
        .doc = "It completes when all children have: FAILURE if at least max_failures of them have failed, SKIPPED if "
               "all were skipped, else SUCCESS. No child is halted because another one fails. While others run, a "
               "skipped child is tried again when a condition or variable that it depends on may have changed. A "
               "max_failures that is higher than the number of children is an ERROR.",
        .tick = parallel_all_tick,
        .halt = node_reset_tried,
        .never = parallel_all_never,
        .check = parallel_all_check,
};
