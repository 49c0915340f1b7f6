/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Controls that run their children one after the other: Sequence continues after a SUCCESS and ends with the first
 * FAILURE, Fallback is its mirror image. The Async forms yield between two children; SequenceWithMemory resumes at the
 * child that failed.
 *
 * At most one child runs at any time, the one at position. The activation began with the child at last.
 */

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct Order {
        Status continue_on;
        bool yields;  /* between two children, if the first completed at once */
        bool resumes; /* starts again with the child that failed or was halted */
} Order;

/* Runs the children from this one on. answer: the child's answer if it was ticked already, else IDLE. */
static inline __attribute__((always_inline)) Status ordered_continue(Machine *machine, NodeId node, NodeId child,
                                                                     Status answer, Order order) {
        while (child < machine->nodes[node].end) {
                bool in_one_go = order.yields && node_is_fresh(machine, child);
                Status status = answer != STATUS_IDLE ? answer : child_tick(machine, child);

                answer = STATUS_IDLE;
                if (status != order.continue_on) {
                        if (status != STATUS_SKIPPED) {
                                node_state(machine, node)->position = child;
                                return status;
                        }
                        node_count_skipped(machine, node, child);
                }

                child = machine->nodes[child].end;
                if (in_one_go && status == order.continue_on && child < machine->nodes[node].end) {
                        node_state(machine, node)->position = child;
                        return node_yield(machine, node, false);
                }
        }

        if (order.resumes)
                node_state(machine, node)->position = 0;

        node_forget_counts_below(machine, node);
        return node_state(machine, node)->skipped == machine->nodes[node].n_children ? STATUS_SKIPPED
                                                                                     : order.continue_on;
}

static __attribute__((noinline)) Status ordered_tick(Machine *machine, NodeId node, Order order) {
        NodeState *state = node_state(machine, node);
        NodeId child = state->position;
        Status status = STATUS_IDLE;

        if (state->status != STATUS_RUNNING) {
                node_begin_counting(machine, node);
                child = state->last = order.resumes && child != 0 ? child : node + 1;
        }

        if (G_UNLIKELY(node_is_waiting(machine, child)))
                status = node_reevaluate_before(machine, node, state->last, child, order.continue_on, &child);

        status = ordered_continue(machine, node, child, status, order);
        if (status == STATUS_RUNNING && G_UNLIKELY(node_is_waiting(machine, state->position)))
                node_keep_reevaluating(machine, node, state->last, state->position);

        return status;
}

static Status plain_tick(Machine *machine, NodeId node, Status continue_on) {
        if (node_may_walk(machine, node))
                return node_walk(machine, node);

        return ordered_tick(machine, node, (Order){ continue_on, false, false });
}

/* In a tick that begins an activation the node has no state yet. */
static Status plain_resume(Machine *machine, NodeId node, NodeId child, Status answer, Status continue_on) {
        node_state(machine, node)->skipped = 0;
        return ordered_continue(machine, node, child, answer, (Order){ continue_on, false, false });
}

static void ordered_halt(Machine *machine, NodeId node) {
        node_reset(machine, node_state(machine, node)->position);
}

static Status sequence_tick(Machine *machine, NodeId node) {
        return plain_tick(machine, node, STATUS_SUCCESS);
}

static Status sequence_resume(Machine *machine, NodeId node, NodeId child, Status answer) {
        return plain_resume(machine, node, child, answer, STATUS_SUCCESS);
}

static Status async_sequence_tick(Machine *machine, NodeId node) {
        return ordered_tick(machine, node, (Order){ STATUS_SUCCESS, true, false });
}

static Status sequence_with_memory_tick(Machine *machine, NodeId node) {
        return ordered_tick(machine, node, (Order){ STATUS_SUCCESS, true, true });
}

static Status fallback_tick(Machine *machine, NodeId node) {
        return plain_tick(machine, node, STATUS_FAILURE);
}

static Status fallback_resume(Machine *machine, NodeId node, NodeId child, Status answer) {
        return plain_resume(machine, node, child, answer, STATUS_FAILURE);
}

static Status async_fallback_tick(Machine *machine, NodeId node) {
        return ordered_tick(machine, node, (Order){ STATUS_FAILURE, true, false });
}

static void fallback_check(const Tree *tree, NodeId node, Findings *findings) {
        for (NodeId child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end)
                if (tree->nodes[child].type == &force_failure_type)
                        findings_trap(findings, NULL,
                                      "'%s' fails also when its child succeeds; to do something after a failure and "
                                      "then fail, use a TryCatch",
                                      tree_node_name(tree, child));

        outcomes_check_in_order(tree, node, tree->nodes[node].end, NODE_NEVER_FAILS, findings);
}

static const Course sequence_course = {
        .continue_on = STATUS_SUCCESS,
        .success = STATUS_SUCCESS,
        .failure = STATUS_FAILURE,
        .resume = sequence_resume,
};

const NodeType sequence_type = {
        .name = "Sequence",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "Runs its children one after the other until one fails",
        .doc = "SUCCESS when all children have succeeded. FAILURE as soon as one fails; the children after it do not "
               "start. A skipped child is passed over. SKIPPED when all children were skipped.",
        .course = &sequence_course,
        .tick = sequence_tick,
        .halt = ordered_halt,
        .never = outcomes_in_sequence,
        .check = outcomes_check_sequence,
};

const NodeType async_sequence_type = {
        .name = "AsyncSequence",
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Sequence that starts each child in a new tick",
        .doc = "Like Sequence, but if a child completes at once, the next child starts in a new tick. Before that, btd "
               "evaluates the conditions of reactive nodes above again, and other runs have their turn.",
        .tick = async_sequence_tick,
        .halt = ordered_halt,
        .never = outcomes_in_sequence,
        .check = outcomes_check_sequence,
};

static const char *const sequence_with_memory_aliases[] = { "SequenceStar", NULL };

const NodeType sequence_with_memory_type = {
        .name = "SequenceWithMemory",
        .aliases = sequence_with_memory_aliases,
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Sequence that starts again with the child that failed",
        .doc = "Like Sequence, but after a FAILURE or a halt, the next execution begins with the child that failed or "
               "was halted. After a SUCCESS it begins with the first child. As in an AsyncSequence, the next child "
               "starts in a new tick if a child completes at once.",
        .tick = sequence_with_memory_tick,
        .halt = ordered_halt,
        .never = outcomes_in_sequence,
        .check = outcomes_check_sequence,
};

const Param fallback_params[] = { CAUSE_PARAM(FallbackParams, cause), {} };

static const char *const fallback_aliases[] = { "Selector", NULL };

static const Course fallback_course = {
        .continue_on = STATUS_FAILURE,
        .success = STATUS_SUCCESS,
        .failure = STATUS_FAILURE,
        .resume = fallback_resume,
};

const NodeType fallback_type = {
        .name = "Fallback",
        .aliases = fallback_aliases,
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "Tries its children one after the other until one succeeds",
        .doc = "SUCCESS as soon as one child succeeds; the children after it do not start. FAILURE when all have "
               "failed. A skipped child is passed over. SKIPPED when all children were skipped.",
        .params = fallback_params,
        .params_size = sizeof(FallbackParams),
        .tells_cause = true,
        .cause_offset = offsetof(FallbackParams, cause),
        .course = &fallback_course,
        .tick = fallback_tick,
        .halt = ordered_halt,
        .never = outcomes_in_fallback,
        .check = fallback_check,
};

const NodeType async_fallback_type = {
        .name = "AsyncFallback",
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Fallback that starts each child in a new tick",
        .doc = "Like Fallback, but if a child fails at once, the next child starts in a new tick, as in an "
               "AsyncSequence.",
        .params = fallback_params,
        .params_size = sizeof(FallbackParams),
        .tells_cause = true,
        .cause_offset = offsetof(FallbackParams, cause),
        .tick = async_fallback_tick,
        .halt = ordered_halt,
        .never = outcomes_in_fallback,
        .check = fallback_check,
};
