/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Controls that take their children one after the other: Sequence goes on after a SUCCESS and ends with the first
 * FAILURE, Fallback is its mirror image. The Async forms hand control back between two children; SequenceWithMemory
 * starts again where it failed.
 *
 * At most one child is running at any time, the one at position.
 */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

typedef struct Order {
        Status goes_on;
        bool yields;    /* between two children, after one that completed in one go */
        bool remembers; /* starts again with the child that failed or was halted */
} Order;

/* Where it begins, or goes on. */
static inline NodeId ordered_begin(Machine *machine, NodeId node, bool remembers) {
        NodeState *state = node_state(machine, node);

        if (state->status == STATUS_RUNNING)
                return state->position;

        state->skipped = 0;
        return remembers && state->position != 0 ? state->position : node + 1;
}

/* From a child on. answer: what that has answered already, or IDLE. */
static inline __attribute__((always_inline)) Status ordered_go_on(Machine *machine, NodeId node, NodeId child,
                                                                  Status answer, Order order) {
        while (child < machine->nodes[node].end) {
                bool in_one_go = order.yields && node_is_fresh(machine, child);
                Status status = answer != STATUS_IDLE ? answer : child_tick(machine, child);

                answer = STATUS_IDLE;
                if (status != order.goes_on) {
                        if (status != STATUS_SKIPPED) {
                                node_state(machine, node)->position = child;
                                return status;
                        }
                        node_state(machine, node)->skipped++;
                }

                child = machine->nodes[child].end;
                if (in_one_go && status == order.goes_on && child < machine->nodes[node].end) {
                        node_state(machine, node)->position = child;
                        return node_yield(machine, node, false);
                }
        }

        if (order.remembers)
                node_state(machine, node)->position = 0;

        node_forget_counts_below(machine, node);
        return node_state(machine, node)->skipped == machine->nodes[node].n_children ? STATUS_SKIPPED : order.goes_on;
}

static __attribute__((noinline)) Status ordered_tick(Machine *machine, NodeId node, Order order) {
        NodeId child = ordered_begin(machine, node, order.remembers);

        return ordered_go_on(machine, node, child, STATUS_IDLE, order);
}

static Status plain_tick(Machine *machine, NodeId node, Status goes_on) {
        if (node_may_walk(machine, node))
                return node_walk(machine, node);

        return ordered_tick(machine, node, (Order){ goes_on, false, false });
}

/* In a tick that begins an activation nothing is written down for the node yet. */
static Status plain_resume(Machine *machine, NodeId node, NodeId child, Status answer, Status goes_on) {
        node_state(machine, node)->skipped = 0;
        return ordered_go_on(machine, node, child, answer, (Order){ goes_on, false, false });
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

static unsigned sequence_never(const Node *nodes, NodeId node) {
        return outlook_in_sequence(nodes, node, nodes[node].end);
}

static unsigned fallback_never(const Node *nodes, NodeId node) {
        return outlook_in_fallback(nodes, node, nodes[node].end);
}

static char *sequence_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        return outlook_check_sequence(tree, node, tree->nodes[node].end, ret_is_error);
}

static char *fallback_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        return outlook_check_fallback(tree, node, tree->nodes[node].end, ret_is_error);
}

static const Course sequence_course = {
        .goes_on = STATUS_SUCCESS,
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
        .doc = "SUCCESS when all children have succeeded; FAILURE as soon as one fails. The children behind it are "
               "not started then. A skipped child is passed over; SKIPPED when all children were skipped.",
        .course = &sequence_course,
        .tick = sequence_tick,
        .halt = ordered_halt,
        .never = sequence_never,
        .check = sequence_check,
};

const NodeType async_sequence_type = {
        .name = "AsyncSequence",
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Sequence that lets others go first between two children",
        .doc = "As Sequence, but after a child that completed at once it hands control back to the daemon, and to the "
               "reactive nodes above it, before it goes on with the next.",
        .tick = async_sequence_tick,
        .halt = ordered_halt,
        .never = sequence_never,
        .check = sequence_check,
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
        .doc = "As AsyncSequence, but when it is started again after a FAILURE or a halt, it goes on with the child "
               "that failed or was halted; those before it are not run again. Only reaching the end starts it over.",
        .tick = sequence_with_memory_tick,
        .halt = ordered_halt,
        .never = sequence_never,
        .check = sequence_check,
};

static const char *const fallback_aliases[] = { "Selector", NULL };

static const Course fallback_course = {
        .goes_on = STATUS_FAILURE,
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
        .doc = "SUCCESS as soon as one child succeeds; FAILURE when all have failed. The children behind the one that "
               "succeeded are not started. A skipped child is passed over; SKIPPED when all children were skipped.",
        .course = &fallback_course,
        .tick = fallback_tick,
        .halt = ordered_halt,
        .never = fallback_never,
        .check = fallback_check,
};

const NodeType async_fallback_type = {
        .name = "AsyncFallback",
        .class = NODE_CONTROL,
        .flags = TYPE_AT_CHILD_ALWAYS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Fallback that lets others go first between two children",
        .doc = "As Fallback, but after a child that failed at once it hands control back to the daemon, and to the "
               "reactive nodes above it, before it tries the next.",
        .tick = async_fallback_tick,
        .halt = ordered_halt,
        .never = fallback_never,
        .check = fallback_check,
};
