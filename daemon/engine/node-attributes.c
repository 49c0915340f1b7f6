/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * While a node goes on after it was halted, its state record belongs to the activation that is ending, but for what
 * says that it is waiting to be started again: its status, that it is deferred, a result that is held. What is said
 * here of the activation that is ending, stands until it is over.
 */

#include "engine/node-attributes.h"

static Attributes *attributes_of(Machine *machine, NodeId node) {
        return &machine->attributes[node];
}

void attributes_make(Machine *machine) {
        if (!machine->attributes)
                machine->attributes = g_new0(Attributes, machine->tree->n_nodes);
}

/* Of the activation that ends, or of one that has not begun. */
static void let_go(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);

        if (attributes->flags & (ATTRIBUTE_WAITS | ATTRIBUTE_HOLDS))
                machine->host->unlock(machine, node);

        attributes->flags &= ~(ATTRIBUTE_WAITS | ATTRIBUTE_HOLDS | ATTRIBUTE_AT_BREAKPOINT | ATTRIBUTE_PASSED);
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
                attributes->flags |= ATTRIBUTE_STANDS;
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

void attributes_forget_forced(Machine *machine, NodeId from, NodeId end) {
        for (NodeId node = from; node < end; node++) {
                Attributes *attributes = attributes_of(machine, node);

                if (attributes->flags & ATTRIBUTE_STANDS && !node_is_spared(machine, node, from)) {
                        attributes->flags &= ~ATTRIBUTE_STANDS;
                        attributes->forced = STATUS_IDLE;
                }
        }
}

/* Its own last activation is ending, or what it is to replace. */
static bool must_wait(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];
        bool late = definition->flags & (NODE_LEAF | NODE_ATTRIBUTED) || definition->type->flags & TYPE_BEGINS_LATE;

        return node_ending_inside(machine, node) ||
               (machine->deferring && late && !(definition->flags & NODE_IMMEDIATE));
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

bool attributes_awaits_start(Machine *machine, NodeId node) {
        return node_state(machine, node)->flags & STATE_DEFERRED && !node_ending_inside(machine, node);
}

bool attributes_start(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        Attributes *attributes = attributes_of(machine, node);
        bool waits;

        if (state->status == STATUS_RUNNING && !(state->flags & STATE_DEFERRED))
                return true;

        waits = must_wait(machine, node);
        if (waits)
                index_set_add(&machine->deferred, node);
        else
                index_set_remove(&machine->deferred, node);

        if (waits || is_stopped_at_breakpoint(machine, node) || !has_lock(machine, node)) {
                state->flags |= STATE_DEFERRED;
                return false;
        }

        attributes->flags = (attributes->flags & ~(ATTRIBUTE_AT_BREAKPOINT | ATTRIBUTE_PASSED)) | ATTRIBUTE_BEGUN;
        if (machine->nodes[node].type->class == NODE_CONDITION)
                state->flags &= ~STATE_DEFERRED;

        return true;
}

/* It was to start, and does not any more. */
static void forget_start(Machine *machine, NodeId node) {
        node_state(machine, node)->flags &= ~STATE_DEFERRED;
        index_set_remove(&machine->deferred, node);
        if (!node_ending_inside(machine, node))
                let_go(machine, node);
}

Status attributes_complete(Machine *machine, NodeId node, Status status) {
        bool fine;

        if (node_state(machine, node)->flags & STATE_DEFERRED)
                forget_start(machine, node);

        fine = run_hooks(machine, node, status);
        let_go(machine, node);
        attributes_of(machine, node)->flags &= ~(ATTRIBUTE_BEGUN | ATTRIBUTE_FORCED | ATTRIBUTE_BROKEN);
        return fine ? status : STATUS_ERROR;
}

void attributes_note_error(Machine *machine, NodeId node) {
        attributes_of(machine, node)->flags |= ATTRIBUTE_BROKEN;
}

static bool may_be_interrupted(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];

        return !(definition->flags & NODE_UNINTERRUPTIBLE) || definition->type->class == NODE_CONDITION ||
               attributes_of(machine, node)->flags & ATTRIBUTE_BROKEN;
}

bool attributes_halt(Machine *machine, NodeId node) {
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

        if (may_be_interrupted(machine, node))
                return false;

        attributes->flags |= ATTRIBUTE_GOES_ON;
        node_set_ending(machine, node);
        if (state->flags & STATE_ENDED) {
                state->flags &= ~STATE_ENDED;
                attributes_leaf_ended(machine, node, state->result);
        }

        return true;
}

bool attributes_goes_on(Machine *machine, NodeId node) {
        return attributes_of(machine, node)->flags & ATTRIBUTE_GOES_ON;
}

void attributes_leaf_ended(Machine *machine, NodeId leaf, Status status) {
        attributes_of(machine, leaf)->flags |= ATTRIBUTE_OVER;
        attributes_of(machine, leaf)->outcome = status;
}

/* As if it had not been halted. */
static Status go_on(Machine *machine, NodeId node) {
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

/* After an error it is halted as any other. */
static void give_up(Machine *machine, NodeId node) {
        attributes_of(machine, node)->flags &= ~ATTRIBUTE_GOES_ON;
        node_state(machine, node)->flags &= ~STATE_ENDING;
        inner_halt(machine, node);
}

bool attributes_are_over(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);

        if (!(attributes->flags & ATTRIBUTE_OVER)) {
                Status status = machine->nodes[node].flags & NODE_LEAF ? STATUS_RUNNING : go_on(machine, node);

                if (status == STATUS_ERROR)
                        give_up(machine, node);
                if (!status_is_outcome(status))
                        return false;

                node_disarm_timer(machine, node);
                attributes_leaf_ended(machine, node, status);
        }

        return !node_ending_below(machine, node);
}

Status attributes_end(Machine *machine, NodeId node) {
        Attributes *attributes = attributes_of(machine, node);
        Status status = attributes->flags & ATTRIBUTE_GOES_ON ? attributes->outcome : STATUS_HALTED;

        if (status == STATUS_ERROR)
                node_expression_failed(machine, node);
        if (status == STATUS_ERROR || attributes->flags & ATTRIBUTE_FORCED)
                status = STATUS_HALTED;

        if (attributes->flags & ATTRIBUTE_BEGUN && !(attributes->flags & ATTRIBUTE_FORCED))
                run_hooks(machine, node, status);

        let_go(machine, node);
        attributes->flags &= ~(ATTRIBUTE_BEGUN | ATTRIBUTE_GOES_ON | ATTRIBUTE_OVER | ATTRIBUTE_BROKEN);
        return status;
}
