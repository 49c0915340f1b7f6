/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements hooks, locks, breakpoints, forced outcomes, allowed failures and uninterruptible nodes.
 *
 * While a node continues after its halt, its state record belongs to the activation that is ending. Only its status,
 * STATE_DEFERRED and a held result belong to the next activation, which waits. The attributes belong to the activation
 * that is ending until it has ended.
 */

#include "engine/node-attributes.h"

static Attributes *attributes_of(Machine *machine, NodeId node) {
        return &machine->attributes[node];
}

void attributes_make(Machine *machine) {
        if (!machine->attributes)
                machine->attributes = g_new0(Attributes, machine->tree->n_nodes);
}

/* For an activation that ends, or one that has not begun. */
static void release_lock(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);

        if (attributes->flags & (ATTRIBUTE_WAITS | ATTRIBUTE_HOLDS))
                machine->host->unlock(machine, node);
        if (attributes->flags & ATTRIBUTE_REFUSED)
                attributes->forced = STATUS_IDLE;

        attributes->flags &=
                ~(ATTRIBUTE_WAITS | ATTRIBUTE_HOLDS | ATTRIBUTE_AT_BREAKPOINT | ATTRIBUTE_PASSED | ATTRIBUTE_REFUSED);
}

static bool run_hook(Machine *machine, NodeId node, Hook hook) {
        return machine->host->hook(machine, node, hook) != VERDICT_ERROR;
}

/* False: an ERROR. */
static bool run_hooks(Machine *machine, NodeId node, Status status) {
        Hook hook = status == STATUS_SUCCESS ? HOOK_SUCCESS : status == STATUS_FAILURE ? HOOK_FAILURE : HOOK_HALTED;
        bool first;

        if (!(machine->nodes[node].flags & NODE_HOOKED) || status == STATUS_SKIPPED)
                return true;

        first = run_hook(machine, node, hook);
        if (run_hook(machine, node, HOOK_ALWAYS) && first)
                return true;

        node_expression_failed(machine, node);
        return false;
}

Status attributes_forced(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Attributes *attributes = attributes_of(machine, node);
        Status status = attributes->forced;

        if (status == STATUS_IDLE)
                return STATUS_IDLE;

        if (machine->nodes[node].flags & NODE_LIVE && machine->nodes[node].flags & NODE_RETAINED)
                attributes->flags |= ATTRIBUTE_PERSISTS;
        else
                attributes->forced = STATUS_IDLE;

        if (state->flags & STATE_HELD) {
                state->flags &= ~STATE_HELD;
        } else if (state->status == STATUS_RUNNING) {
                if (!(state->flags & (STATE_DEFERRED | STATE_ENDING)))
                        attributes->flags |= ATTRIBUTE_FORCED;
                node_reset(machine, node);
        }

        machine->reason = REASON_FORCED;
        return status;
}

void attributes_clear_forced(Machine *machine, NodeId from, NodeId end) {
        for (NodeId node = from; node < end; node++) {
                Attributes *attributes = attributes_of(machine, node);

                if (attributes->flags & ATTRIBUTE_PERSISTS && !node_is_below_ending(machine, node, from)) {
                        attributes->flags &= ~ATTRIBUTE_PERSISTS;
                        attributes->forced = STATUS_IDLE;
                }
        }
}

static bool is_stopped_at_breakpoint(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);

        if (!(attributes->flags & (ATTRIBUTE_BREAKPOINT | ATTRIBUTE_AT_BREAKPOINT)) ||
            attributes->flags & (ATTRIBUTE_PASSED | ATTRIBUTE_WAITS | ATTRIBUTE_HOLDS))
                return false;

        if (!(attributes->flags & ATTRIBUTE_AT_BREAKPOINT)) {
                attributes->flags |= ATTRIBUTE_AT_BREAKPOINT;
                machine->host->breakpoint(machine, node);
        }

        return true;
}

static bool has_lock(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);

        if (!(machine->nodes[node].flags & NODE_LOCKED) || attributes->flags & ATTRIBUTE_HOLDS)
                return true;

        if (!(attributes->flags & ATTRIBUTE_WAITS))
                attributes->flags |= machine->host->lock(machine, node) ? ATTRIBUTE_HOLDS : ATTRIBUTE_WAITS;

        return attributes->flags & ATTRIBUTE_HOLDS;
}

bool attributes_start(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Attributes *attributes = attributes_of(machine, node);
        const Node *definition = &machine->nodes[node];
        bool late = definition->flags & (NODE_LEAF | NODE_ATTRIBUTED) || definition->type->flags & TYPE_BEGINS_LATE;
        bool waits;

        if (state->status == STATUS_RUNNING && !(state->flags & STATE_DEFERRED))
                return true;

        /* Its own last activation is ending, or a node that it replaces. */
        waits = node_ending_inside(machine, node) ||
                (machine->deferring && late && !(definition->flags & NODE_IMMEDIATE));
        if (waits)
                index_set_add(&machine->deferred, node);
        else
                index_set_remove(&machine->deferred, node);

        if (waits || is_stopped_at_breakpoint(machine, node) || !has_lock(machine, node)) {
                state->flags |= STATE_DEFERRED;
                return false;
        }

        attributes->flags = (attributes->flags & ~(ATTRIBUTE_AT_BREAKPOINT | ATTRIBUTE_PASSED)) | ATTRIBUTE_BEGUN;
        if (definition->type->class == NODE_CONDITION)
                state->flags &= ~STATE_DEFERRED;

        return true;
}

/* The node waited to start, and does not any more. */
static void forget_start(Machine *machine, NodeId node) {
        node_state(machine, node)->flags &= ~STATE_DEFERRED;
        index_set_remove(&machine->deferred, node);
        if (!node_ending_inside(machine, node))
                release_lock(machine, node);
}

Status attributes_complete(Machine *machine, NodeId node, Status status) {
        bool fine;

        if (node_state(machine, node)->flags & STATE_DEFERRED)
                forget_start(machine, node);

        fine = run_hooks(machine, node, status);
        release_lock(machine, node);
        attributes_of(machine, node)->flags &= ~(ATTRIBUTE_BEGUN | ATTRIBUTE_FORCED | ATTRIBUTE_IN_ERROR);
        if (!fine)
                return STATUS_ERROR;

        return status == STATUS_FAILURE && machine->nodes[node].flags & NODE_MAY_FAIL ? STATUS_SUCCESS : status;
}

void attributes_note_error(Machine *machine, NodeId node) {
        attributes_of(machine, node)->flags |= ATTRIBUTE_IN_ERROR;
}

bool attributes_halt(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];
        NodeState *state = node_state(machine, node);
        Attributes *attributes = attributes_of(machine, node);

        if (state->flags & STATE_DEFERRED) {
                forget_start(machine, node);
                return true;
        }

        if (state->flags & STATE_HELD) {
                state->flags &= ~STATE_HELD;
                attributes->flags &= ~ATTRIBUTE_FORCED;
                return true;
        }

        if (!(definition->flags & NODE_UNINTERRUPTIBLE) || definition->type->class == NODE_CONDITION ||
            attributes->flags & ATTRIBUTE_IN_ERROR)
                return false;

        attributes->flags |= ATTRIBUTE_CONTINUES;
        node_set_ending(machine, node);
        if (state->flags & STATE_ENDED) {
                state->flags &= ~STATE_ENDED;
                attributes_leaf_ended(machine, node, state->result);
        }

        return true;
}

bool attributes_continues(Machine *machine, NodeId node) {
        return attributes_of(machine, node)->flags & ATTRIBUTE_CONTINUES;
}

void attributes_leaf_ended(Machine *machine, NodeId leaf, Status status) {
        attributes_of(machine, leaf)->flags |= ATTRIBUTE_ENDED;
        attributes_of(machine, leaf)->outcome = status;
}

/* Ticks the node as if it had not been halted. */
static Status tick_continuing(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        uint8_t timer = STATE_TIMER | STATE_EXPIRED, status = state->status, flags = state->flags & ~timer;
        Status answer;

        state->status = STATUS_RUNNING;
        state->flags &= timer;
        answer = machine->nodes[node].type->tick(machine, node);
        state->status = status;
        state->flags = flags | (state->flags & timer);
        return answer;
}

bool attributes_have_ended(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);

        if (!(attributes->flags & ATTRIBUTE_ENDED)) {
                Status status =
                        machine->nodes[node].flags & NODE_LEAF ? STATUS_RUNNING : tick_continuing(machine, node);

                /* After an error the node is halted like any other. */
                if (status == STATUS_ERROR) {
                        attributes->flags &= ~ATTRIBUTE_CONTINUES;
                        node_state(machine, node)->flags &= ~STATE_ENDING;
                        inner_halt(machine, node);
                }
                if (!status_is_outcome(status))
                        return false;

                node_disarm_timer(machine, node);
                attributes_leaf_ended(machine, node, status);
        }

        return !node_ending_below(machine, node);
}

Status attributes_end(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);
        Status status = attributes->flags & ATTRIBUTE_CONTINUES ? attributes->outcome : STATUS_HALTED;

        if (status == STATUS_ERROR)
                node_expression_failed(machine, node);
        if (status == STATUS_ERROR || attributes->flags & ATTRIBUTE_FORCED)
                status = STATUS_HALTED;

        if (attributes->flags & ATTRIBUTE_BEGUN && !(attributes->flags & ATTRIBUTE_FORCED))
                run_hooks(machine, node, status);

        release_lock(machine, node);
        attributes->flags &= ~(ATTRIBUTE_BEGUN | ATTRIBUTE_CONTINUES | ATTRIBUTE_ENDED | ATTRIBUTE_IN_ERROR);
        return status;
}
