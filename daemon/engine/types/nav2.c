/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RecoveryNode, PipelineSequence and RoundRobin: controls that are known from Nav2. */

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct RecoveryParams {
        int64_t number_of_retries;
        const char *cause;
} RecoveryParams;

enum {
        PHASE_WORK,
        PHASE_RECOVERY,
};

/* position counts the recoveries. */
static Status recovery_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const RecoveryParams *params = node_params(machine, node);
        NodeId recovery = machine->nodes[node + 1].end;
        bool in_one_go;
        Status status;

        if (state->status == STATUS_IDLE) {
                state->phase = PHASE_WORK;
                state->position = 0;
        }

        for (;;) {
                if (state->phase == PHASE_WORK) {
                        status = child_tick(machine, node + 1);
                        if (status != STATUS_FAILURE)
                                return status;

                        if (state->position >= params->number_of_retries) {
                                machine->reason = REASON_ATTEMPTS;
                                return STATUS_FAILURE;
                        }
                        state->phase = PHASE_RECOVERY;
                }

                in_one_go = node_is_fresh(machine, recovery);
                status = child_tick(machine, recovery);
                if (status != STATUS_SUCCESS)
                        return status == STATUS_SKIPPED ? STATUS_FAILURE : status;

                state->position++;
                state->phase = PHASE_WORK;
                if (in_one_go)
                        return node_yield(machine, node, false);
        }
}

static void recovery_check(const Tree *tree, NodeId node, Findings *findings) {
        const RecoveryParams *params = tree->nodes[node].params;
        NodeId recovery = tree->nodes[node + 1].end;

        if (params->number_of_retries > 0)
                outcomes_check_other(tree, node + 1, NODE_NEVER_FAILS, recovery, findings);
        else
                findings_trap(findings, "number_of_retries", "number_of_retries is 0, so '%s' can never run",
                              tree_node_name(tree, recovery));
}

static const Param recovery_params[] = {
        { .name = "number_of_retries",
          .kind = PARAM_INT,
          .offset = offsetof(RecoveryParams, number_of_retries),
          .late = true,
          .fallback = "1",
          .min = 0,
          .max = UINT32_MAX,
          .doc = "How often to run the recovery and to try the first child again" },
        CAUSE_PARAM(RecoveryParams, cause),
        {},
};

const NodeType recovery_node_type = {
        .name = "RecoveryNode",
        .class = NODE_CONTROL,
        .flags = TYPE_REPEATS,
        .min_children = 2,
        .max_children = 2,
        .params = recovery_params,
        .params_size = sizeof(RecoveryParams),
        .tells_cause = true,
        .cause_offset = offsetof(RecoveryParams, cause),
        .summary = "Runs its second child when the first fails, then tries the first again",
        .doc = "SUCCESS when the first child succeeds. FAILURE when the recovery fails or is skipped, or when the "
               "first child fails after number_of_retries recoveries.",
        .tick = recovery_tick,
        .never = outcomes_of_child,
        .check = recovery_check,
};

/* The furthest child that was reached is at position. The children before it are ticked again, whatever they answer. */
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

const NodeType pipeline_sequence_type = {
        .name = "PipelineSequence",
        .class = NODE_CONTROL,
        .flags = TYPE_REPEATS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Sequence that runs earlier children again while a later one runs",
        .doc = "Like Sequence, but while a later child runs, each tick runs the earlier children again. "
               "When the later child succeeds, the child after it starts. FAILURE as soon as any child fails. SUCCESS "
               "when the last child succeeds; children that still run are halted. To start an earlier child at fixed "
               "times, put a RateController around it.",
        .tick = pipeline_tick,
        .never = outcomes_in_sequence,
        .check = outcomes_check_sequence,
};

/* The next child is at position, also for the next activation. failures: in a row. */
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

const NodeType round_robin_type = {
        .name = "RoundRobin",
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "Tries its children in turn, starting after the one that succeeded last",
        .doc = "SUCCESS when a child succeeds; the next execution begins with the child after it. FAILURE when all "
               "have failed. After a halt or a FAILURE it begins with the first child again.",
        .tick = round_robin_tick,
        .halt = round_robin_halt,
        .never = outcomes_in_fallback,
};
