/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * TryCatch: a control that runs its children as a Sequence, and the last one only if another one fails.
 *
 * Finally: a control with a body and a clean-up, which runs once when the body has ended, in any way or in those that
 * are given. A halt stops only the body; the clean-up follows, and only its timeout halts it. The body's outcome is at
 * position.
 */

#include "engine/node.h"
#include "engine/types/types.h"

enum {
        PHASE_TRY,
        PHASE_CATCH,
};

typedef struct TryCatchParams {
        const char *const *catch;
        bool catch_on_halt;
        const char *cause;
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

static Status try_catch_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const TryCatchParams *params = machine->nodes[node].params;
        Status status;

        if (state->status == STATUS_IDLE) {
                state->phase = PHASE_TRY;
                state->position = node + 1;
                node_begin_counting(machine, node);
                state->last = last_child(machine->nodes, node);
        }

        if (state->phase == PHASE_TRY) {
                status = try_tick(machine, node, state->last);
                if (status != STATUS_FAILURE ||
                    (params->catch && !machine->host->cause_matches(machine, state->position, params->catch)))
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
        return outcomes_in_order(nodes, node, last_child(nodes, node), NODE_NEVER_SUCCEEDS);
}

static void try_catch_check(const Tree *tree, NodeId node, Findings *findings) {
        const TryCatchParams *params = tree->nodes[node].params;
        NodeId catch = last_child(tree->nodes, node);

        if (try_catch_never(tree->nodes, node) & TYPE_NEVER_FAILS && !params->catch_on_halt) {
                findings_trap(findings, NULL, "the nodes before '%s' can never fail, so it can never run",
                              tree_node_name(tree, catch));
                return;
        }

        outcomes_check_in_order(tree, node, catch, NODE_NEVER_SUCCEEDS, findings);
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
          .doc = "true: when the node is halted, the last child gets one tick; actions in it that take time are "
                 "halted" },
        CAUSE_PARAM(TryCatchParams, cause),
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
        .tells_cause = true,
        .cause_offset = offsetof(TryCatchParams, cause),
        .summary = "A Sequence whose last child runs if one of the others fails",
        .doc = "Runs its children one after the other, except the last. SUCCESS when all of them have succeeded. When "
               "one fails, the last child runs, if the cause matches catch or catch is not given. Then the outcome is "
               "FAILURE, whatever the outcome of the last child.",
        .tick = try_catch_tick,
        .halt = try_catch_halt,
        .finish = try_catch_finish,
        .never = try_catch_never,
        .check = try_catch_check,
};

enum {
        PHASE_BODY,
        PHASE_CLEAN_UP,
        PHASE_DONE,
};

typedef struct FinallyParams {
        uint64_t timeout;
        const char *const *after; /* NULL: all of these */
        const char *cause;
} FinallyParams;

static const char after_success[] = "success", after_failure[] = "failure", after_halted[] = "halted";
static const char *const after_names[] = { after_success, after_failure, after_halted, NULL };

/* Does the clean-up run after this end of the body? A body that was skipped after it had begun was halted. */
static bool runs_after(const Node *definition, const char *end) {
        const FinallyParams *params = definition->params;

        return !params->after || g_strv_contains(params->after, end);
}

static NodeId clean_up_of(const Node *nodes, NodeId node) {
        return nodes[node + 1].end;
}

bool cleanup_depends_on(const Tree *tree, NodeId node) {
        NodeId child = node, parent;

        for (; (parent = tree->nodes[child].parent) != NODE_NONE; child = parent) {
                const NodeType *type = tree->nodes[parent].type;
                bool is_last = tree->nodes[child].end == tree->nodes[parent].end;

                if (type == &finally_type && is_last)
                        return true;
                if (type_is_fallback(type) && !is_last)
                        return false;
        }

        return false;
}

static void begin_clean_up(Machine *machine, NodeId node) {
        const FinallyParams *params = node_params(machine, node);

        node_state(machine, node)->phase = PHASE_CLEAN_UP;
        if (span_limits(params->timeout))
                node_arm_timer(machine, node, params->timeout);
}

static Status clean_up(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        NodeId child = clean_up_of(machine->nodes, node);
        Status status = child_tick(machine, child);

        if (status == STATUS_RUNNING && !(state->flags & STATE_EXPIRED))
                return status;

        state->phase = PHASE_DONE;
        if (status != STATUS_RUNNING)
                return status;

        node_reset(machine, child);
        machine->reason = REASON_TIMEOUT;
        return STATUS_FAILURE;
}

/* A body that was skipped before it started needs no clean-up. */
static Status finally_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Status status;

        if (state->status == STATUS_IDLE)
                state->phase = PHASE_BODY;

        if (state->phase == PHASE_BODY) {
                bool in_one_go = node_is_fresh(machine, node + 1);

                status = child_tick(machine, node + 1);
                if (!status_is_outcome(status) || (status == STATUS_SKIPPED && in_one_go))
                        return status;

                if (!runs_after(&machine->nodes[node], status == STATUS_SUCCESS   ? after_success
                                                       : status == STATUS_FAILURE ? after_failure
                                                                                  : after_halted))
                        return status;

                state->position = status;
                begin_clean_up(machine, node);
        }

        status = clean_up(machine, node);
        if (!status_is_outcome(status))
                return status;
        if (status == STATUS_FAILURE && state->position != STATUS_FAILURE)
                return status;

        machine->reason = REASON_NONE;
        return state->position;
}

/* Runs the clean-up after a halt. */
static bool finally_finish(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (state->phase == PHASE_BODY && !node_ending_below(machine, node))
                begin_clean_up(machine, node);

        if (state->phase == PHASE_CLEAN_UP && clean_up(machine, node) == STATUS_ERROR)
                node_reset(machine, clean_up_of(machine->nodes, node));

        if (state->phase != PHASE_DONE || node_ending_below(machine, node))
                return false;

        node_disarm_timer(machine, node);
        return true;
}

/* A clean-up with an error is done. */
static void finally_halt(Machine *machine, NodeId node) {
        node_reset(machine, node + 1);
        if (node_state(machine, node)->phase == PHASE_DONE)
                node_reset(machine, clean_up_of(machine->nodes, node));
        else if (node_state(machine, node)->phase == PHASE_CLEAN_UP || runs_after(&machine->nodes[node], after_halted))
                node_set_ending(machine, node);
}

/* A clean-up can only turn a SUCCESS into a FAILURE. */
static unsigned finally_never(const Node *nodes, NodeId node) {
        const Node *child = &nodes[clean_up_of(nodes, node)];
        const FinallyParams *params = nodes[node].params;
        bool limited = span_limits(params->timeout);
        unsigned never = outcomes_of_child(nodes, node);

        if (!runs_after(&nodes[node], after_success))
                return never;
        if (node_runs_forever(child) && !limited)
                return TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS;
        if (outcome_is_impossible(child, NODE_NEVER_SUCCEEDS))
                never |= TYPE_NEVER_SUCCEEDS;

        return child->flags & NODE_NEVER_FAILS && !limited ? never : never & TYPE_NEVER_SUCCEEDS;
}

static void finally_check(const Tree *tree, NodeId node, Findings *findings) {
        NodeId child = clean_up_of(tree->nodes, node);
        const FinallyParams *params = tree->nodes[node].params;

        if (node_runs_forever(&tree->nodes[child]) && !span_limits(params->timeout))
                findings_trap(findings, NULL, "'%s' never ends, and the nodes above wait for it; set a timeout",
                              tree_node_name(tree, child));
}

static const Param finally_params[] = {
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(FinallyParams, timeout),
          .late = true,
          .fallback = "\"infinity\"",
          .doc = "How long the clean-up may take; then it is halted and fails" },
        { .name = "after",
          .kind = PARAM_STRINGS,
          .offset = offsetof(FinallyParams, after),
          .single = true,
          .not_empty = true,
          .values = after_names,
          .doc = "The ends of the body after which the clean-up runs: [\"failure\", \"halted\"] for a roll-back; "
                 "default: all" },
        CAUSE_PARAM(FinallyParams, cause),
        {},
};

const NodeType finally_type = {
        .name = "Finally",
        .class = NODE_CONTROL,
        .flags = TYPE_BEGINS_LATE | TYPE_FIRST_FAILURE | TYPE_AT_STATUS,
        .min_children = 2,
        .max_children = 2,
        .params = finally_params,
        .params_size = sizeof(FinallyParams),
        .tells_cause = true,
        .cause_offset = offsetof(FinallyParams, cause),
        .summary = "Runs its second child when the first has ended, in any way",
        .doc = "The first child is the body, the second the clean-up. The clean-up runs once when the body has ended: "
               "after SUCCESS, FAILURE, a halt or an ERROR of the tree. It does not run if the body did not begin, for "
               "example because it was skipped at once. The nodes above wait for the end of the clean-up. A halt does "
               "not end it; only the parameter timeout does, or a user who forces an outcome in it.\n\nIf the body has "
               "ended by itself, the outcome is that of the body, but FAILURE if the clean-up fails. If both fail, the "
               "cause names both. If the node was halted, it has no outcome: a failure of the clean-up is then only in "
               "the log and in the cause. A tree that relies on the clean-up must check it, for example by a UnitState "
               "in the node that starts next.\n\nThe parameter 'after' lists the ends of the body after which the "
               "clean-up runs. An ERROR counts as \"halted\", and so does a body that becomes SKIPPED while it runs.",
        .tick = finally_tick,
        .halt = finally_halt,
        .finish = finally_finish,
        .never = finally_never,
        .check = finally_check,
};
