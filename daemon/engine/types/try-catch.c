/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* TryCatch: a control that runs its children as a Sequence, and the last one only if another one fails. */

#include "engine/node.h"
#include "engine/types/outcome-analysis.h"
#include "engine/types/types.h"

enum {
        PHASE_TRY,
        PHASE_CATCH,
};

typedef struct TryCatchParams {
        const char *const *catch;
        bool catch_on_halt;
} TryCatchParams;

static NodeId last_child(const Node *nodes, NodeId node) {
        NodeId child = node + 1;

        while (nodes[child].end < nodes[node].end)
                child = nodes[child].end;

        return child;
}

/* RUNNING; FAILURE: continue with the last child; else the outcome. */
static Status try_tick(Machine *machine, NodeId node, NodeId catch) {
        NodeState *state = node_state(machine, node);
        Status answer = STATUS_IDLE;

        if (G_UNLIKELY(node_is_waiting(machine, state->position)))
                answer = node_reevaluate_before(machine, node, node + 1, state->position, STATUS_SUCCESS,
                                                &state->position);

        while (state->position < catch) {
                Status status = answer != STATUS_IDLE ? answer : child_tick(machine, state->position);

                answer = STATUS_IDLE;
                if (status == STATUS_RUNNING && G_UNLIKELY(node_is_waiting(machine, state->position)))
                        node_keep_reevaluating(machine, node, node + 1, state->position);
                if (status == STATUS_SKIPPED)
                        node_count_skipped(machine, node, state->position);
                else if (status != STATUS_SUCCESS)
                        return status;

                state->position = machine->nodes[state->position].end;
        }

        node_forget_counts_below(machine, node);
        return state->skipped == machine->nodes[node].n_children - 1 ? STATUS_SKIPPED : STATUS_SUCCESS;
}

static bool is_to_be_caught(Machine *machine, NodeId node, NodeId child) {
        const TryCatchParams *params = machine->nodes[node].params;

        return !params->catch || machine->host->cause_matches(machine, child, params->catch);
}

static Status try_catch_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Status status;

        if (state->status == STATUS_IDLE) {
                state->phase = PHASE_TRY;
                state->position = node + 1;
                node_begin_counting(machine, node);
                state->last = last_child(machine->nodes, node);
        }

        if (state->phase == PHASE_TRY) {
                status = try_tick(machine, node, state->last);
                if (status != STATUS_FAILURE || !is_to_be_caught(machine, node, state->position))
                        return status;

                state->phase = PHASE_CATCH;
                state->position = state->last;
        }

        status = child_tick(machine, state->last);
        return status == STATUS_RUNNING || status == STATUS_ERROR ? status : STATUS_FAILURE;
}

/* The last child gets one tick; actions that it starts and that take time are halted. */
static bool try_catch_finish(Machine *machine, NodeId node) {
        NodeId catch = node_state(machine, node)->last;

        if (node_ending_below(machine, node))
                return false;

        child_tick(machine, catch);
        node_reset(machine, catch);
        return true;
}

static void try_catch_halt(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const TryCatchParams *params = machine->nodes[node].params;

        node_reset(machine, state->position);
        if (state->phase == PHASE_TRY && params->catch_on_halt && !index_set_has(&machine->waiting, node))
                node_set_ending(machine, node);
}

static unsigned try_catch_never(const Node *nodes, NodeId node) {
        return outcomes_in_sequence(nodes, node, last_child(nodes, node));
}

static void try_catch_check(const Tree *tree, NodeId node, Findings *findings) {
        const TryCatchParams *params = tree->nodes[node].params;
        NodeId catch = last_child(tree->nodes, node);

        if (try_catch_never(tree->nodes, node) & TYPE_NEVER_FAILS && !params->catch_on_halt) {
                findings_trap(findings, NULL, "the nodes before '%s' can never fail, so it can never run",
                              tree_node_name(tree, catch));
                return;
        }

        outcomes_check_sequence(tree, node, catch, findings);
}

static const Param try_catch_params[] = {
        { .name = "catch",
          .kind = PARAM_STRINGS,
          .offset = offsetof(TryCatchParams, catch),
          .single = true,
          .causes = true,
          .doc = "The causes of failure for which the last child runs, such as \"timeout\" or \"exit-status:75\"; "
                 "default: all" },
        { .name = "catch_on_halt",
          .kind = PARAM_BOOL,
          .offset = offsetof(TryCatchParams, catch_on_halt),
          .fallback = "false",
          .doc = "Also tick the last child once when the node is halted" },
        {},
};

const NodeType try_catch_type = {
        .name = "TryCatch",
        .class = NODE_CONTROL,
        .flags = TYPE_FIRST_FAILURE | TYPE_AT_CHILD_ALWAYS | TYPE_AT_LAST_CHILD,
        .min_children = 2,
        .max_children = UINT32_MAX,
        .params = try_catch_params,
        .params_size = sizeof(TryCatchParams),
        .summary = "A Sequence whose last child runs if one of the others fails",
        .doc = "SUCCESS when all children but the last have succeeded; the last does not run then. If one fails, the "
               "last "
               "runs, unless catch names other causes. The outcome is then FAILURE, whatever the last child returns.",
        .tick = try_catch_tick,
        .halt = try_catch_halt,
        .finish = try_catch_finish,
        .never = try_catch_never,
        .check = try_catch_check,
};
