/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Controls that Nav2 has added to the field: RecoveryNode, PipelineSequence, RoundRobin. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

typedef struct RecoveryParams {
        int64_t number_of_retries;
} RecoveryParams;

enum {
        PHASE_WORK,
        PHASE_RECOVERY,
};

/* IDLE: go on with the other child. The recoveries that were done are counted in position. */
static Status recovery_work(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const RecoveryParams *params = machine->nodes[node].params;
        Status status = child_tick(machine, node + 1);

        if (status != STATUS_FAILURE)
                return status;

        if (state->position >= params->number_of_retries) {
                machine->reason = REASON_ATTEMPTS;
                return STATUS_FAILURE;
        }

        state->phase = PHASE_RECOVERY;
        return STATUS_IDLE;
}

static Status recovery_recover(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        NodeId recovery = machine->nodes[node + 1].end;
        bool in_one_go = node_is_fresh(machine, recovery);
        Status status = child_tick(machine, recovery);

        if (status != STATUS_SUCCESS)
                return status == STATUS_SKIPPED ? STATUS_FAILURE : status;

        state->position++;
        state->phase = PHASE_WORK;
        return in_one_go ? node_yield(machine, node, false) : STATUS_IDLE;
}

static Status recovery_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Status status;

        if (state->status == STATUS_IDLE) {
                state->phase = PHASE_WORK;
                state->position = 0;
        }

        do
                status = state->phase == PHASE_WORK ? recovery_work(machine, node) : recovery_recover(machine, node);
        while (status == STATUS_IDLE);

        return status;
}

static char *recovery_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const RecoveryParams *params = tree->nodes[node].params;
        NodeId recovery = tree->nodes[node + 1].end;

        if (params->number_of_retries > 0)
                return outlook_check_other(tree, node + 1, NODE_NEVER_FAILS, recovery, ret_is_error);

        *ret_is_error = false;
        return g_strdup_printf("number_of_retries is 0, so '%s' can never run", tree_node_name(tree, recovery));
}

static const Param recovery_params[] = {
        { .name = "number_of_retries",
          .kind = PARAM_INT,
          .offset = offsetof(RecoveryParams, number_of_retries),
          .fallback = "1",
          .min = 0,
          .max = UINT32_MAX,
          .doc = "How often the recovery is run and the first child tried again" },
        {},
};

const NodeType recovery_node_type = {
        .name = "RecoveryNode",
        .class = NODE_CONTROL,
        .min_children = 2,
        .max_children = 2,
        .params = recovery_params,
        .params_size = sizeof(RecoveryParams),
        .summary = "Runs its second child when the first fails, then tries the first again",
        .doc = "SUCCESS when the first child succeeds. FAILURE when the recovery fails or is skipped, or when the "
               "first "
               "child has failed after number_of_retries recoveries.",
        .tick = recovery_tick,
        .never = outlook_of_child,
        .check = recovery_check,
};

/* The furthest child that was reached is at position. Those before it are ticked again, whatever they say. */
static Status pipeline_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const Node *nodes = machine->nodes;

        if (state->status == STATUS_IDLE)
                state->position = node + 1;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
                Status status = child_tick(machine, child);

                if (status == STATUS_ERROR)
                        return status;

                if (status == STATUS_FAILURE) {
                        node_reset_children(machine, node);
                        return status;
                }

                if (status == STATUS_RUNNING && child >= state->position) {
                        state->position = child;
                        return status;
                }

                if (status != STATUS_RUNNING)
                        node_visit_always(machine, child);
        }

        node_reset_children(machine, node);
        return STATUS_SUCCESS;
}

static unsigned pipeline_never(const Node *nodes, NodeId node) {
        return outlook_in_sequence(nodes, node, nodes[node].end);
}

static char *pipeline_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        return outlook_check_sequence(tree, node, tree->nodes[node].end, ret_is_error);
}

const NodeType pipeline_sequence_type = {
        .name = "PipelineSequence",
        .class = NODE_CONTROL,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Sequence that keeps ticking the children that have succeeded",
        .doc = "As Sequence, but the children before the one that is running are ticked again at every tick; while one "
               "of them runs, those behind it go on. FAILURE as soon as any child fails; SUCCESS when the last one "
               "succeeds.",
        .tick = pipeline_tick,
        .never = pipeline_never,
        .check = pipeline_check,
};

/* The child whose turn it is, also in the next activation, is at position; failures in a row are counted. */
static Status round_robin_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const Node *definition = &machine->nodes[node];
        uint32_t skipped = 0;

        if (state->position == 0)
                state->position = node + 1;
        if (state->status == STATUS_IDLE)
                state->failures = 0;

        while (state->failures + skipped < definition->n_children) {
                Status status = child_tick(machine, state->position);

                if (status == STATUS_RUNNING || status == STATUS_ERROR)
                        return status;

                state->position = machine->nodes[state->position].end;
                if (state->position == definition->end)
                        state->position = node + 1;

                if (status == STATUS_SUCCESS)
                        return status;

                skipped += status == STATUS_SKIPPED;
                state->failures += status == STATUS_FAILURE;
        }

        state->position = 0;
        return skipped == definition->n_children ? STATUS_SKIPPED : STATUS_FAILURE;
}

static void round_robin_halt(Machine *machine, NodeId node) {
        node_reset(machine, node_state(machine, node)->position);
        node_state(machine, node)->position = 0;
}

static unsigned round_robin_never(const Node *nodes, NodeId node) {
        return outlook_in_fallback(nodes, node, nodes[node].end);
}

const NodeType round_robin_type = {
        .name = "RoundRobin",
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "Tries its children in turn, beginning behind the one that was tried last",
        .doc = "SUCCESS when a child succeeds; the next activation begins with the one behind it. FAILURE when all "
               "have "
               "failed. A halt, or a FAILURE, begins with the first again.",
        .tick = round_robin_tick,
        .halt = round_robin_halt,
        .never = round_robin_never,
};
