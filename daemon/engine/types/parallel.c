/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Parallel: all children at once, decided by how many succeed or fail. A child that has completed is not ticked
 * again in the same activation; a skipped one is.
 */

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct ParallelParams {
        int64_t success_count, failure_count;
} ParallelParams;

/* A negative threshold counts from the number of children, -1 being all of them. */
static int64_t threshold(int64_t count, uint32_t n_children) {
        return count < 0 ? MAX(0, n_children + count + 1) : count;
}

static Status parallel_forget(Machine *machine, NodeId node, Status status) {
        node_reset_children(machine, node);
        return status;
}

/* RUNNING while it is not decided. skipped: so far in this tick. */
static Status parallel_decide(Machine *machine, NodeId node, uint32_t skipped) {
        const NodeState *state = node_state(machine, node);
        const ParallelParams *params = machine->nodes[node].params;
        uint32_t n = machine->nodes[node].n_children;
        int64_t need = threshold(params->success_count, n);

        if (state->successes >= need || (params->success_count < 0 && state->successes + skipped >= need))
                return STATUS_SUCCESS;

        if (n - state->failures < need || state->failures >= threshold(params->failure_count, n)) {
                machine->reason = REASON_THRESHOLD;
                return STATUS_FAILURE;
        }

        return STATUS_RUNNING;
}

static void parallel_count(Machine *machine, NodeId node, NodeId child, Status status, bool took_time) {
        NodeState *state = node_state(machine, node);

        if (status == STATUS_SUCCESS)
                state->successes++;
        else if (status == STATUS_FAILURE)
                state->failures++;
        else {
                if (status == STATUS_SKIPPED)
                        node_visit_again(machine, child, took_time);
                return;
        }

        node_state(machine, child)->flags |= STATE_DONE;
        index_set_remove(&machine->sticky, child);
}

/* One child that is to be looked at, then the verdict so far. */
static Status parallel_tick_child(Machine *machine, NodeId node, NodeId child, uint32_t *skipped) {
        bool running = !node_is_fresh(machine, child);
        Status status;

        if (!running)
                index_set_remove_range(&machine->marked, child, machine->nodes[child].end);

        if (!(node_state(machine, child)->flags & STATE_DONE)) {
                status = child_tick(machine, child);
                if (status == STATUS_ERROR)
                        return status;

                *skipped += status == STATUS_SKIPPED;
                parallel_count(machine, node, child, status, running);
        }

        return parallel_decide(machine, node, *skipped);
}

static bool parallel_thresholds_fit(const Node *definition) {
        const ParallelParams *params = definition->params;

        return threshold(params->success_count, definition->n_children) <= definition->n_children &&
               threshold(params->failure_count, definition->n_children) <= definition->n_children;
}

static Status parallel_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const Node *definition = &machine->nodes[node];
        bool all = machine->full || state->status == STATUS_IDLE;
        uint32_t skipped = 0;

        if (state->status == STATUS_IDLE) {
                if (!parallel_thresholds_fit(definition))
                        return node_error(machine, node, "threshold-exceeds-children");

                state->successes = state->failures = 0;
        }

        for (NodeId child = child_next(machine, node, node + 1, all); child < definition->end;
             child = child_next(machine, node, machine->nodes[child].end, all)) {
                Status status = parallel_tick_child(machine, node, child, &skipped);

                if (status == STATUS_ERROR)
                        return status;
                if (status != STATUS_RUNNING)
                        return parallel_forget(machine, node, status);
        }

        return skipped == definition->n_children ? parallel_forget(machine, node, STATUS_SKIPPED) : STATUS_RUNNING;
}

static char *parallel_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const Node *definition = &tree->nodes[node];

        if (parallel_thresholds_fit(definition))
                return NULL;

        *ret_is_error = false;
        return g_strdup_printf("a threshold is higher than the number of children (%u): the run will end in ERROR here",
                               definition->n_children);
}

static const Param parallel_params[] = {
        { .name = "success_count",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelParams, success_count),
          .fallback = "-1",
          .min = -1000000,
          .max = 1000000,
          .doc = "how many children must succeed; negative: counted from their number, -1 being all" },
        { .name = "failure_count",
          .kind = PARAM_INT,
          .offset = offsetof(ParallelParams, failure_count),
          .fallback = "1",
          .min = -1000000,
          .max = 1000000,
          .doc = "how many failures make it fail; negative: counted from the number of children" },
        {},
};

const NodeType parallel_type = {
        .name = "Parallel",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .params = parallel_params,
        .params_size = sizeof(ParallelParams),
        .summary = "Runs its children at the same time",
        .doc = "SUCCESS when success_count children have succeeded, FAILURE when failure_count have failed or when "
               "success_count cannot be reached any more. Children that still run are halted then. A skipped child is "
               "tried again later; it does not stand in the way of a negative success_count.",
        .tick = parallel_tick,
        .check = parallel_check,
};
