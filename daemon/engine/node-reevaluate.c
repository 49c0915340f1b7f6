/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Evaluates children again that have completed or were skipped, while their parent runs, and keeps the conditions below
 * them for as long as that can happen. The node types use it.
 */

#include "engine/node-attributes.h"

bool node_is_tried(Machine *machine, NodeId child) {
        return machine->nodes[child].flags & NODE_MAY_SKIP &&
               (node_is_fresh(machine, child) || node_state(machine, child)->flags & STATE_TRIED);
}

/* Can a running node, between the condition and the one above, evaluate the condition again? */
static bool is_still_needed(Machine *machine, NodeId leaf, NodeId above) {
        for (NodeId child = leaf; child != above; child = machine->nodes[child].parent) {
                NodeId node = machine->nodes[child].parent;
                unsigned flags = machine->nodes[node].type->flags;

                if (node_is_fresh(machine, node))
                        continue;
                if (flags & (TYPE_REACTIVE | TYPE_REACTIVE_FIRST) ||
                    (flags & TYPE_TRIES_AGAIN && node_is_tried(machine, child) &&
                     !(node_state(machine, child)->flags & STATE_DONE)))
                        return true;
        }

        return node_is_below_ending(machine, leaf, above);
}

/* The child was not skipped: releases the conditions that were kept to try it again. */
static void release_tried(Machine *machine, NodeId child) {
        for (NodeId leaf = index_set_next(&machine->retained, child); leaf < machine->nodes[child].end;
             leaf = index_set_next(&machine->retained, leaf + 1)) {
                if (is_still_needed(machine, leaf, child))
                        continue;

                index_set_remove(&machine->retained, leaf);
                machine->host->condition_release(machine, leaf);
        }
}

Status node_try(Machine *machine, NodeId child) {
        NodeState *state = node_state(machine, child);
        bool trying = machine->trying, begun;
        uint32_t n_begun = machine->n_begun;
        Status status;

        state->flags &= ~STATE_TRIED;
        machine->trying = true;
        machine->attention |= ATTENTION_TRYING;
        status = child_tick_touched(machine, child);
        machine->trying = trying;
        begun = machine->n_begun != n_begun;

        if (status == STATUS_RUNNING && !begun) {
                state->flags |= STATE_TRIED;
        } else if (status == STATUS_SKIPPED) {
                node_visit_always(machine, child);
                node_mark_if_changed(machine, child);
                machine->later |= begun;
        } else if (!trying && !(machine->nodes[child].flags & NODE_RETAINED))
                release_tried(machine, child);

        return status;
}

void node_reset_tried(Machine *machine, NodeId node) {
        node_reset_children(machine, node);
        if (machine->nodes[node].flags & NODE_MAY_SKIP && !(machine->nodes[node].flags & NODE_RETAINED) &&
            !machine->trying)
                node_release_conditions(machine, node);
}

/* STATE_SKIPPED has the skipped children by name if a child may be evaluated again. */
void node_begin_counting(Machine *machine, NodeId node) {
        node_state(machine, node)->skipped = 0;
        if (G_UNLIKELY(machine->deferring))
                for (NodeId child = node + 1; child < machine->nodes[node].end; child = machine->nodes[child].end)
                        node_state(machine, child)->flags &= ~STATE_SKIPPED;
}

void node_count_skipped(Machine *machine, NodeId node, NodeId child) {
        if (machine->deferring)
                node_set_skipped(machine, node, child, true);
        else
                node_state(machine, node)->skipped++;
}

Status node_reevaluate(Machine *machine, NodeId child) {
        const Node *definition = &machine->nodes[child];
        Status status;

        if (!(definition->flags & NODE_PASSIVE))
                return STATUS_IDLE;
        if (definition->flags & NODE_LIVE && !machine->full &&
            !index_set_has_any(&machine->marked, child, definition->end))
                return STATUS_IDLE;

        index_set_remove_range(&machine->marked, child, definition->end);
        status = child_tick(machine, child);
        if (status_is_outcome(status))
                node_mark_if_changed(machine, child);

        return status;
}

Status node_reevaluate_before(Machine *machine, NodeId node, NodeId first, NodeId waiting, Status continue_on,
                              NodeId *ret_child) {
        for (NodeId child = node + 1; child < waiting; child = machine->nodes[child].end) {
                Status status = child < first ? STATUS_IDLE : node_reevaluate(machine, child);

                if (status == STATUS_IDLE)
                        continue;

                node_set_skipped(machine, node, child, status == STATUS_SKIPPED);
                if (status == continue_on || status == STATUS_SKIPPED)
                        continue;

                /* The children after it are counted again when their turn comes. */
                for (NodeId other = machine->nodes[child].end; other <= waiting; other = machine->nodes[other].end) {
                        node_set_skipped(machine, node, other, false);
                        node_reset(machine, other);
                }
                *ret_child = child;
                return status;
        }

        return STATUS_IDLE;
}

void node_keep_reevaluating(Machine *machine, NodeId node, NodeId first, NodeId child) {
        for (NodeId before = node + 1; before < child; before = machine->nodes[before].end) {
                unsigned flags = machine->nodes[before].flags;

                if (before < first || !(flags & NODE_PASSIVE))
                        continue;

                node_mark_if_changed(machine, before);
                if (!(flags & NODE_LIVE))
                        node_visit_always(machine, node);
        }
}

void node_release_conditions(Machine *machine, NodeId node) {
        NodeId end = machine->nodes[node].end;

        if (G_UNLIKELY(machine->attention & ATTENTION_CONTROLLED))
                attributes_clear_forced(machine, node, end);

        for (NodeId leaf = index_set_next(&machine->retained, node); leaf < end;
             leaf = index_set_next(&machine->retained, leaf + 1)) {
                if (node_is_below_ending(machine, leaf, node))
                        continue;

                index_set_remove(&machine->retained, leaf);
                machine->host->condition_release(machine, leaf);
        }
}

Status node_evaluate_condition(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        NodeId condition = node + 1;
        bool live = machine->nodes[condition].flags & NODE_LIVE;

        if (live && !machine->full && state->phase != STATUS_IDLE &&
            !index_set_has_any(&machine->marked, condition, machine->nodes[condition].end))
                return state->phase;

        if (node_is_fresh(machine, condition))
                index_set_remove_range(&machine->marked, condition, machine->nodes[condition].end);

        state->phase = child_tick(machine, condition);
        if (status_is_outcome(state->phase))
                node_mark_if_changed(machine, condition);
        if (!live && (state->phase == STATUS_SUCCESS || state->phase == STATUS_FAILURE))
                node_visit_always(machine, condition);

        return state->phase;
}

void node_reset_reactive(Machine *machine, NodeId node) {
        node_reset_children(machine, node);
        if (!(machine->nodes[node].flags & NODE_RETAINED) && !machine->trying)
                node_release_conditions(machine, node);
}
