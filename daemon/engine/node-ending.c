/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Halts that take time. A node that was halted is IDLE for those above it; while it is in the set of those that are
 * ending, their outcomes wait, and nothing that comes after it starts. A leaf leaves the set by its end. What goes on
 * below other nodes, a clean-up or what is uninterruptible, is ticked from here, in full: the marks that lead there
 * from the root belong to the tick that comes from the root.
 */

#include "engine/node-attributes.h"

static void add_ending(Machine *machine, NodeId node) {
        index_set_add(&machine->ending, node);
        machine->attention |= ATTENTION_ENDING;
}

void node_set_ending(Machine *machine, NodeId node) {
        node_state(machine, node)->flags |= STATE_ENDING;
        add_ending(machine, node);
}

bool node_is_spared(Machine *machine, NodeId node, NodeId above) {
        if (index_set_is_empty(&machine->ending))
                return false;

        for (; node != NODE_NONE && node >= above; node = machine->nodes[node].parent)
                if (index_set_has(&machine->ending, node))
                        return true;

        return false;
}

/* Nothing but its own attributes may be left to be looked after, once nothing below it is ending. */
static bool look(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];

        if (definition->flags & NODE_LEAF)
                return definition->flags & NODE_ATTRIBUTED && attributes_are_over(machine, node);
        if (definition->flags & NODE_UNINTERRUPTIBLE && attributes_goes_on(machine, node)) {
                bool over = attributes_are_over(machine, node);

                if (over || attributes_goes_on(machine, node))
                        return over;
        }
        if (node_state(machine, node)->flags & STATE_ENDING)
                return definition->type->finish(machine, node);

        return !node_ending_below(machine, node);
}

static bool is_over(Machine *machine, NodeId node) {
        bool full = machine->full, deferring = machine->deferring, over;

        machine->full = true;
        machine->deferring = false;
        over = look(machine, node);
        machine->full = full;
        machine->deferring = deferring;
        machine->reason = REASON_NONE;
        return over;
}

/* The host has heard of a leaf's halt when that began. */
static void end(Machine *machine, NodeId node) {
        bool attributed = machine->nodes[node].flags & NODE_ATTRIBUTED;
        bool told = machine->nodes[node].flags & NODE_LEAF && !(attributed && attributes_goes_on(machine, node));
        Status status = attributed ? attributes_end(machine, node) : STATUS_HALTED;

        if (!told)
                node_notify(machine, node, status);
}

static bool finish(Machine *machine, NodeId node) {
        if (!is_over(machine, node))
                return false;

        node_state(machine, node)->flags &= ~STATE_ENDING;
        index_set_remove(&machine->ending, node);
        node_release_conditions(machine, node);
        node_forget_counts_below(machine, node);
        end(machine, node);
        return true;
}

void node_begin_ending(Machine *machine, NodeId node) {
        bool leaf = machine->nodes[node].flags & NODE_LEAF, attributed = machine->nodes[node].flags & NODE_ATTRIBUTED;

        if (leaf && !(attributed && attributes_goes_on(machine, node)))
                node_notify(machine, node, STATUS_HALTED);

        if (attributed && node_ending_inside(machine, node))
                add_ending(machine, node);

        if (index_set_has(&machine->ending, node))
                finish(machine, node);
        else if (attributed || !leaf)
                end(machine, node);
}

/* The root is left marked only where something that goes on has asked for another tick. */
static void mark_finished(Machine *machine, NodeId node) {
        bool again = index_set_has(&machine->marked, 0);

        node_mark(machine, node);
        if (!again)
                index_set_remove(&machine->marked, 0);
}

static void finish_within(Machine *machine, NodeId from, NodeId end) {
        for (NodeId node = index_set_next(&machine->ending, from); node < end;
             node = index_set_next(&machine->ending, machine->nodes[node].end)) {
                finish_within(machine, node + 1, machine->nodes[node].end);
                if (finish(machine, node))
                        mark_finished(machine, node);
        }
}

void node_finish_endings(Machine *machine) {
        finish_within(machine, 0, machine->tree->n_nodes);
}
