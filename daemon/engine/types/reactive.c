/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * ReactiveSequence and its mirror image ReactiveFallback: controls whose every tick begins with the first child, so
 * that completed children are evaluated again while a later one runs. Live conditions are evaluated only when their
 * value has changed, other children at every tick.
 *
 * The running child is at position, 0 if none runs. When another one takes over, its actions start only when those of
 * the old one have ended.
 */

#include "engine/node.h"
#include "engine/types/types.h"

static Status reactive_end(Machine *machine, NodeId node, Status status) {
        node_reset_reactive(machine, node);
        return status;
}

/* Must the child not start actions yet, because another one runs or is ending? */
static bool must_defer(Machine *machine, NodeId node, NodeId child) {
        NodeId running = node_state(machine, node)->position;

        return (running != 0 && running != child) || node_ending_beside(machine, node, child);
}

/* Marks the paths from the node to its deferred leaves, so that its next tick finds them. */
static void mark_deferred(Machine *machine, NodeId node) {
        const Node *nodes = machine->nodes;

        for (NodeId leaf = index_set_next(&machine->deferred, node); leaf < nodes[node].end;
             leaf = index_set_next(&machine->deferred, leaf + 1))
                for (NodeId id = leaf; id != nodes[node].parent; id = nodes[id].parent)
                        index_set_add(&machine->marked, id);
}

static Status reactive_visit(Machine *machine, NodeId node, NodeId child, bool defer) {
        bool deferring = machine->deferring;
        Status status;

        if (node_is_fresh(machine, child))
                index_set_remove_range(&machine->marked, child, machine->nodes[child].end);
        else if (!deferring && !defer)
                mark_deferred(machine, child);

        machine->deferring = deferring || defer;
        if (machine->deferring)
                machine->attention |= ATTENTION_DEFERRING;
        status = child_tick(machine, child);
        machine->deferring = deferring;
        if (status_is_outcome(status))
                node_mark_if_changed(machine, child);

        return status;
}

/* The child runs now: halts the child after it that ran, which is counted again when its turn comes. */
static void take_over(Machine *machine, NodeId node, NodeId child) {
        NodeState *state = node_state(machine, node);
        NodeId running = state->position;

        if (running != 0 && running != child)
                for (NodeId other = machine->nodes[child].end; other <= running; other = machine->nodes[other].end) {
                        node_set_skipped(machine, node, other, false);
                        node_reset(machine, other);
                }

        node_set_skipped(machine, node, child, false);
        state->position = child;
}

static Status reactive_visit_and_take_over(Machine *machine, NodeId node, NodeId child) {
        bool defer = must_defer(machine, node, child), full = machine->full;
        Status status = reactive_visit(machine, node, child, defer);

        if (status != STATUS_RUNNING)
                return status;

        take_over(machine, node, child);
        if (!defer || must_defer(machine, node, child) || !node_deferred_inside(machine, child))
                return STATUS_RUNNING;

        /* Start the deferred actions within the same tick. Nothing else has happened since, so visit only them. */
        machine->full = false;
        status = reactive_visit(machine, node, child, false);
        machine->full = full;
        return status;
}

static inline Status reactive_tick(Machine *machine, NodeId node, Status continue_on, Status stop_on) {
        NodeState *state = node_state(machine, node);
        const Node *nodes = machine->nodes;
        bool all = machine->full || state->status == STATUS_IDLE;
        NodeId child = node + 1;

        if (state->status == STATUS_IDLE)
                state->position = state->skipped = 0;

        while (child < nodes[node].end) {
                Status status;

                child = child_next(machine, node, child, all);
                if (state->position != 0 && child > state->position)
                        child = state->position;

                status = reactive_visit_and_take_over(machine, node, child);
                if (status == STATUS_RUNNING || status == STATUS_ERROR)
                        return status;
                if (status == stop_on)
                        return reactive_end(machine, node, stop_on);

                if (child == state->position) {
                        state->position = 0;
                        all = true;
                }

                node_set_skipped(machine, node, child, status == STATUS_SKIPPED);
                if (status == STATUS_SKIPPED && machine->attention & ATTENTION_COUNTING)
                        node_forget_kept_counts(machine, child, nodes[child].end);
                if (!(nodes[child].flags & NODE_LIVE))
                        node_visit_always(machine, child);

                child = nodes[child].end;
        }

        return reactive_end(machine, node, state->skipped == nodes[node].n_children ? STATUS_SKIPPED : continue_on);
}

static Status reactive_sequence_tick(Machine *machine, NodeId node) {
        return reactive_tick(machine, node, STATUS_SUCCESS, STATUS_FAILURE);
}

static Status reactive_fallback_tick(Machine *machine, NodeId node) {
        return reactive_tick(machine, node, STATUS_FAILURE, STATUS_SUCCESS);
}

/* Does a condition before the action decide whether it is started again? In a child of a ReactiveSequence that is a
 * Fallback: if the condition is true, the action is not needed. In one of a ReactiveFallback it is a Sequence. */
static bool is_guarded(const Node *nodes, NodeId action, NodeId child, bool in_sequence) {
        for (NodeId node = action; node != child; node = nodes[node].parent) {
                NodeId parent = nodes[node].parent;
                const NodeType *type = nodes[parent].type;
                bool opposite = in_sequence ? type == &fallback_type || type == &async_fallback_type ||
                                                      type == &reactive_fallback_type
                                            : type == &sequence_type || type == &async_sequence_type ||
                                                      type == &reactive_sequence_type;

                if (opposite && node != parent + 1 && nodes[parent + 1].flags & NODE_LIVE)
                        return true;
        }

        return false;
}

/* The first action in the child that is started again whenever the child is evaluated; NODE_NONE: there is none. */
static NodeId find_restarted_action(const Node *nodes, NodeId child, bool in_sequence) {
        for (NodeId node = child; node < nodes[child].end;) {
                if (nodes[node].flags & NODE_LEAF && nodes[node].flags & NODE_SLOW &&
                    !is_guarded(nodes, node, child, in_sequence))
                        return node;

                node = nodes[node].flags & NODE_SLOW ? node + 1 : nodes[node].end;
        }

        return NODE_NONE;
}

/* Warns of an action before the last child: it is evaluated again by starting it. */
static void reactive_check(const Tree *tree, NodeId node, Findings *findings) {
        const Node *nodes = tree->nodes;
        bool in_sequence = nodes[node].type == &reactive_sequence_type;

        for (NodeId child = node + 1; nodes[child].end < nodes[node].end; child = nodes[child].end) {
                NodeId action = find_restarted_action(nodes, child, in_sequence);

                if (action == NODE_NONE)
                        continue;

                findings_trap(findings, NULL,
                              "the action '%s' is not the last child, so it would be started again and again; "
                              "use a %s, or put RunOnce around it",
                              tree_node_name(tree, action), in_sequence ? "Sequence" : "Fallback");
                return;
        }

        outcomes_check_in_order(tree, node, nodes[node].end, in_sequence ? NODE_NEVER_SUCCEEDS : NODE_NEVER_FAILS,
                                findings);
}

const NodeType reactive_sequence_type = {
        .name = "ReactiveSequence",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_REACTIVE | TYPE_AT_CHILD_ALWAYS | TYPE_REPEATS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Sequence that keeps evaluating the children that have succeeded",
        .doc = "Runs its last child while the conditions before it are true; the outcome of the last child is its "
               "outcome. When one of the conditions fails, the last child is halted; when that has ended, the outcome "
               "is FAILURE. When one becomes RUNNING, for example because its value is unknown, the last child is "
               "halted, too, and starts again later. Put only conditions before the last child: an action there starts "
               "again at every tick.",
        .tick = reactive_sequence_tick,
        .halt = node_reset_reactive,
        .never = outcomes_in_sequence,
        .check = reactive_check,
};

const NodeType reactive_fallback_type = {
        .name = "ReactiveFallback",
        .class = NODE_CONTROL,
        .flags = TYPE_PURE | TYPE_REACTIVE | TYPE_AT_CHILD_ALWAYS | TYPE_REPEATS,
        .min_children = 1,
        .max_children = UINT32_MAX,
        .summary = "A Fallback that keeps evaluating the children that have failed",
        .doc = "Runs the first child that does not fail. While this child runs, the children before it are evaluated "
               "again. When one of them no longer fails, the running child is halted, and the earlier one takes its "
               "place. SUCCESS when a child succeeds, FAILURE when all have failed.",
        .params = fallback_params,
        .params_size = sizeof(FallbackParams),
        .tells_cause = true,
        .cause_offset = offsetof(FallbackParams, cause),
        .tick = reactive_fallback_tick,
        .halt = node_reset_reactive,
        .never = outcomes_in_fallback,
        .check = reactive_check,
};
