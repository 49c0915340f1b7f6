/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Ticking and halting one node, whatever its type: guards, results that have to wait for halted leaves, and what a node
 * can ask of the machine. What is special about leaves is in node-leaf.c.
 */

#include "engine/node-attributes.h"
#include "engine/node-leaf.h"

void node_mark(Machine *machine, NodeId node) {
        machine->attention |= ATTENTION_MARKED;
        for (; node != NODE_NONE; node = machine->nodes[node].parent)
                index_set_add(&machine->marked, node);
}

void node_notify(Machine *machine, NodeId node, Status status) {
        Reason reason = machine->reason;

        machine->reason = REASON_NONE;
        if (machine->host->changed)
                machine->host->changed(machine, node, status, reason);
}

void inner_halt(Machine *machine, NodeId node) {
        const NodeType *type = machine->nodes[node].type;
        NodeState *state = node_state(machine, node);

        if (type->halt)
                type->halt(machine, node);
        else
                node_reset_children(machine, node);

        if (state->flags & (STATE_TIMER | STATE_EXPIRED) && !(state->flags & STATE_ENDING))
                node_disarm_timer(machine, node);
}

/* A node that holds a result, or was not started yet, has nothing running below it. */
static void halt_what_runs(Machine *machine, NodeId node) {
        if (node_has_attributes(machine, node) && attributes_halt(machine, node))
                return;

        if (node_state(machine, node)->flags & STATE_HELD)
                node_state(machine, node)->flags &= ~STATE_HELD;
        else if (machine->nodes[node].flags & NODE_LEAF)
                leaf_halt(machine, node);
        else if (node_state(machine, node)->flags & STATE_DEFERRED) {
                node_state(machine, node)->flags &= ~STATE_DEFERRED;
                index_set_remove(&machine->deferred, node);
        } else
                inner_halt(machine, node);
}

static void node_halt(Machine *machine, NodeId node) {
        Reason reason = machine->reason;

        machine->reason = REASON_NONE;
        halt_what_runs(machine, node);
        node_state(machine, node)->status = STATUS_IDLE;
        if (node != 0) /* that mark says that there is to be another tick */
                index_set_remove(&machine->marked, node);
        node_begin_ending(machine, node);
        machine->reason = reason;
}

void node_keep_count(Machine *machine, NodeId node) {
        index_set_add(&machine->counting, node);
        machine->attention |= ATTENTION_COUNTING;
}

void node_forget_kept_counts(Machine *machine, NodeId from, NodeId end) {
        for (NodeId loop = index_set_next(&machine->counting, from); loop < end;
             loop = index_set_next(&machine->counting, loop + 1)) {
                if (node_is_spared(machine, loop, from))
                        continue;

                node_state(machine, loop)->position = 0;
                node_disarm_timer(machine, loop);
                index_set_remove(&machine->counting, loop);
        }
}

void node_reset(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (state->status == STATUS_RUNNING)
                node_halt(machine, node);

        if (G_UNLIKELY(machine->attention & ATTENTION_COUNTING))
                node_forget_kept_counts(machine, node, machine->nodes[node].end);

        state->flags &= ~(STATE_DONE | STATE_SKIPPED);
        index_set_remove(&machine->sticky, node);
}

void node_reset_children(Machine *machine, NodeId node) {
        for (NodeId child = node + 1; child < machine->nodes[node].end; child = machine->nodes[child].end)
                node_reset(machine, child);
}

/* A control or decorator is not started again before its last activation has ended. */
static bool inner_must_wait(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        bool deferred = state->flags & STATE_DEFERRED;
        bool late = machine->deferring && machine->nodes[node].type->flags & TYPE_BEGINS_LATE;

        if ((deferred || state->status == STATUS_IDLE) && (late || node_ending_inside(machine, node))) {
                state->flags |= STATE_DEFERRED;
                if (late)
                        index_set_add(&machine->deferred, node);
                return true;
        }

        if (deferred) {
                state->flags &= ~STATE_DEFERRED;
                state->status = STATUS_IDLE;
                index_set_remove(&machine->deferred, node);
        }

        return false;
}

/* IDLE: the guards have nothing to say. */
static Status guards_look(Machine *machine, NodeId node) {
        static const Status answers[] = {
                [GUARD_FAIL_IF] = STATUS_FAILURE,
                [GUARD_SUCCESS_IF] = STATUS_SUCCESS,
                [GUARD_SKIP_IF] = STATUS_SKIPPED,
        };
        const MachineHost *host = machine->host;

        Verdict verdict;

        if (node_is_fresh(machine, node) ||
            (node_has_attributes(machine, node) && attributes_awaits_start(machine, node)))
                for (Guard guard = GUARD_FAIL_IF; guard <= GUARD_SKIP_IF; guard++) {
                        verdict = host->guard(machine, node, guard);
                        if (verdict == VERDICT_ERROR)
                                return node_expression_failed(machine, node);
                        if (verdict == VERDICT_YES) {
                                machine->reason = REASON_FAIL_IF + guard;
                                return answers[guard];
                        }
                }

        /* What it looks at may change with any input. */
        verdict = host->guard(machine, node, GUARD_WHILE);
        if (verdict == VERDICT_ERROR)
                return node_expression_failed(machine, node);
        if (verdict == VERDICT_YES) {
                node_visit_always(machine, node);
                return STATUS_IDLE;
        }

        node_reset(machine, node);
        machine->reason = REASON_WHILE;
        return STATUS_SKIPPED;
}

/* A result waits until everything that was halted on the way to it has ended. */
static Status hold(Machine *machine, NodeId node, Status status) {
        NodeState *state = node_state(machine, node);

        state->flags |= STATE_HELD;
        state->result = (uint8_t) (status | machine->reason << 4);
        state->status = STATUS_RUNNING;
        machine->reason = REASON_NONE;
        return STATUS_RUNNING;
}

static Status complete(Machine *machine, NodeId node, Status status) {
        NodeState *state = node_state(machine, node);
        Status answer;

        if (state->flags & (STATE_TIMER | STATE_EXPIRED) && !(state->flags & STATE_ENDING) &&
            !(machine->nodes[node].type->flags & TYPE_KEEPS_TIMER))
                node_disarm_timer(machine, node);

        if (G_UNLIKELY(!index_set_is_empty(&machine->ending)) && node_ending_inside(machine, node))
                return hold(machine, node, status);

        if (machine->attention & ATTENTION_STICKY)
                index_set_remove(&machine->sticky, node);
        if (status != STATUS_SKIPPED)
                node_forget_counts_below(machine, node);

        state->status = STATUS_IDLE;
        answer = status;
        if (G_UNLIKELY(node_has_attributes(machine, node)))
                answer = attributes_complete(machine, node, status);
        if (machine->host->changed)
                node_notify(machine, node, status);
        return answer;
}

Status node_settle(Machine *machine, NodeId node, Status status) {
        NodeState *state = node_state(machine, node);

        if (status != STATUS_RUNNING && status != STATUS_ERROR)
                return complete(machine, node, status);
        if (G_UNLIKELY(status == STATUS_ERROR) && node_has_attributes(machine, node))
                attributes_note_error(machine, node);

        if (state->status == STATUS_IDLE) {
                state->status = STATUS_RUNNING;
                if (machine->host->changed && machine->nodes[node].flags & NODE_LEAF)
                        node_notify(machine, node, STATUS_RUNNING);
        }

        return status;
}

static Status node_tick_held(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (node_ending_inside(machine, node))
                return STATUS_RUNNING;

        state->flags &= ~STATE_HELD;
        machine->reason = state->result >> 4;
        return complete(machine, node, state->result & 0xf);
}

Status node_tick(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];
        NodeState *state = node_state(machine, node);

        if (G_UNLIKELY(machine->attention & ATTENTION_CONTROLLED)) {
                Status status = attributes_forced(machine, node);

                if (status != STATUS_IDLE)
                        return node_settle(machine, node, status);
        }

        if (G_UNLIKELY(state->flags & STATE_HELD))
                return node_tick_held(machine, node);

        if (G_UNLIKELY(definition->flags & NODE_GUARDED)) {
                Status status = guards_look(machine, node);

                if (status == STATUS_ERROR)
                        return status;
                if (status != STATUS_IDLE)
                        return node_settle(machine, node, status);
        }

        if (G_UNLIKELY(node_has_attributes(machine, node)) && !attributes_start(machine, node))
                return node_settle(machine, node, STATUS_RUNNING);

        if (definition->type->class == NODE_CONDITION)
                return condition_tick(machine, node);

        if (definition->flags & NODE_LEAF)
                return leaf_settle(machine, node, leaf_tick(machine, node));

        if (G_UNLIKELY(state->flags & STATE_DEFERRED || machine->deferring || !index_set_is_empty(&machine->ending)) &&
            inner_must_wait(machine, node))
                return node_settle(machine, node, STATUS_RUNNING);

        if (machine->host->changed && state->status == STATUS_IDLE)
                node_notify(machine, node, STATUS_RUNNING);

        return node_settle(machine, node, definition->type->tick(machine, node));
}

Status child_tick_touched(Machine *machine, NodeId child) {
        if (node_state(machine, child)->status == STATUS_RUNNING) {
                if (!machine->full && !index_set_has(&machine->marked, child))
                        return STATUS_RUNNING;

                index_set_remove(&machine->marked, child);
        }

        return node_tick(machine, child);
}

Status node_error(Machine *machine, NodeId node, const char *error) {
        if (!machine->error) {
                machine->error = error;
                machine->error_node = node;
                machine->attention |= ATTENTION_ERROR;
        }

        return STATUS_ERROR;
}

Status node_expression_failed(Machine *machine, NodeId node) {
        return node_error(machine, node, MACHINE_EXPRESSION_FAILED);
}

void node_arm_timer(Machine *machine, NodeId node, uint64_t usec) {
        NodeState *state = node_state(machine, node);

        state->flags &= ~STATE_EXPIRED;
        state->flags |= STATE_TIMER;
        machine->attention |= ATTENTION_TIMERS;
        machine->host->timer_arm(machine, node, usec);
}

void node_disarm_timer(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (state->flags & STATE_TIMER)
                machine->host->timer_disarm(machine, node);

        state->flags &= ~(STATE_TIMER | STATE_EXPIRED);
}

Status node_yield(Machine *machine, NodeId node, bool endless) {
        machine->woke = true;
        machine->attention |= ATTENTION_WOKE;
        machine->unprompted++;
        if (endless && machine->unprompted > UNPROMPTED_MAX)
                node_visit_again(machine, node, false);
        else
                node_mark(machine, node);

        return STATUS_RUNNING;
}

void node_visit_again(Machine *machine, NodeId node, bool took_time) {
        node_visit_always(machine, node);
        if (took_time)
                node_mark(machine, node);
        else
                machine->later = true;
}

void node_visit_always(Machine *machine, NodeId node) {
        index_set_add(&machine->sticky, node);
        machine->attention |= ATTENTION_STICKY;
}

void node_mark_deferred(Machine *machine, NodeId node) {
        const Node *nodes = machine->nodes;

        for (NodeId leaf = index_set_next(&machine->deferred, node); leaf < nodes[node].end;
             leaf = index_set_next(&machine->deferred, leaf + 1))
                for (NodeId id = leaf; id != nodes[node].parent; id = nodes[id].parent)
                        index_set_add(&machine->marked, id);
}

void node_release_conditions(Machine *machine, NodeId node) {
        NodeId end = machine->nodes[node].end;

        if (G_UNLIKELY(machine->attention & ATTENTION_CONTROLLED))
                attributes_forget_forced(machine, node, end);

        for (NodeId leaf = index_set_next(&machine->retained, node); leaf < end;
             leaf = index_set_next(&machine->retained, leaf + 1)) {
                if (node_is_spared(machine, leaf, node))
                        continue;

                index_set_remove(&machine->retained, leaf);
                machine->host->condition_release(machine, leaf);
        }
}

Status node_look(Machine *machine, NodeId node) {
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
                node_look_again(machine, condition);
        if (!live && (state->phase == STATUS_SUCCESS || state->phase == STATUS_FAILURE))
                node_visit_always(machine, condition);

        return state->phase;
}

void node_reset_reactive(Machine *machine, NodeId node) {
        node_reset_children(machine, node);
        if (!(machine->nodes[node].flags & NODE_RETAINED))
                node_release_conditions(machine, node);
}

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" (2016). */
uint64_t machine_random(Machine *machine, uint64_t n) {
        uint64_t x = machine->random;

        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        machine->random = x;
        return (x * UINT64_C(0x2545f4914f6cdd1d) >> 32) % n; /* the upper bits are the better ones */
}
