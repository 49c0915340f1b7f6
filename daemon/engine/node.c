/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Ticks, completes and halts one node of any type, for the machine and for the node types.
 *
 * A halt can take time. A halted node is IDLE for its parent; while it is in the set "ending", the results of the nodes
 * above it wait, and nothing that comes after it starts. A leaf leaves the set when it ends. Cleanups and
 * uninterruptible nodes that continue after a halt are ticked by node_finish_endings(), in full: the marks that lead to
 * them from the root belong to the tick that comes from the root.
 *
 * The last part evaluates children again that have completed or were skipped, while their parent runs, and keeps the
 * conditions below them for as long as that can happen.
 */

#include "engine/node-attributes.h"

void node_mark(Machine *machine, NodeId node) {
        machine->attention |= ATTENTION_MARKED;
        for (; node != NODE_NONE; node = machine->nodes[node].parent)
                index_set_add(&machine->marked, node);
}

static void notify(Machine *machine, NodeId node, Status status) {
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

Status leaf_settle(Machine *machine, NodeId leaf, Status status) {
        if (G_LIKELY(status != STATUS_ERROR))
                return node_settle(machine, leaf, status);

        node_settle(machine, leaf, STATUS_FAILURE);
        return node_expression_failed(machine, leaf);
}

/* The host keeps a condition below a reactive node until that node completes, and one that will be tried again. */
static Status condition_tick(Machine *machine, NodeId node) {
        Status status = machine->host->condition_evaluate(machine, node);

        if (machine->nodes[node].flags & NODE_RETAINED) {
                index_set_add(&machine->retained, node);
                return leaf_settle(machine, node, status);
        }

        status = leaf_settle(machine, node, status);
        if (machine->trying && status_is_outcome(status)) {
                index_set_add(&machine->retained, node);
                return status;
        }

        index_set_remove(&machine->retained, node);
        if (status != STATUS_RUNNING)
                machine->host->condition_release(machine, node);

        return status;
}

/* An action must not start before the action that it replaces has ended, nor before its own last activation has. */
static bool leaf_must_wait(Machine *machine, NodeId node) {
        return (machine->deferring && !(machine->nodes[node].flags & NODE_IMMEDIATE)) ||
               node_state(machine, node)->flags & STATE_ENDING;
}

/* With the leaf, the nodes above it have started an action, too. */
static Status leaf_begin(Machine *machine, NodeId leaf) {
        if (G_UNLIKELY(machine->attention & ATTENTION_WAITING))
                for (NodeId node = machine->nodes[leaf].parent; node != NODE_NONE; node = machine->nodes[node].parent)
                        node_stop_waiting(machine, node);

        machine->n_begun++;
        return machine->leaf_start(machine, leaf);
}

static Status leaf_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (state->status != STATUS_RUNNING) {
                if (G_UNLIKELY(machine->deferring || state->flags & STATE_ENDING) && leaf_must_wait(machine, node)) {
                        state->flags |= STATE_DEFERRED;
                        index_set_add(&machine->deferred, node);
                        return STATUS_RUNNING;
                }

                return leaf_begin(machine, node);
        }

        if (state->flags & STATE_DEFERRED) {
                if (leaf_must_wait(machine, node))
                        return STATUS_RUNNING;

                state->flags &= ~STATE_DEFERRED;
                index_set_remove(&machine->deferred, node);
                return leaf_begin(machine, node);
        }

        if (state->flags & STATE_ENDED) {
                state->flags &= ~STATE_ENDED;
                return state->result;
        }

        return machine->host->leaf_poll ? machine->host->leaf_poll(machine, node) : STATUS_RUNNING;
}

static void leaf_halt(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (machine->nodes[node].type->class == NODE_CONDITION) {
                if (!(machine->nodes[node].flags & NODE_RETAINED))
                        machine->host->condition_release(machine, node);
        } else if (state->flags & STATE_DEFERRED) {
                state->flags &= ~STATE_DEFERRED;
                index_set_remove(&machine->deferred, node);
        } else if (state->flags & STATE_ENDED) {
                state->flags &= ~STATE_ENDED;
        } else if (!machine->host->leaf_halt(machine, node)) {
                node_set_ending(machine, node);
        }
}

/* Below a node that holds a result, or was not started yet, nothing runs. */
static void halt_running(Machine *machine, NodeId node) {
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

static void add_ending(Machine *machine, NodeId node) {
        index_set_add(&machine->ending, node);
        machine->attention |= ATTENTION_ENDING;
}

void node_set_ending(Machine *machine, NodeId node) {
        node_state(machine, node)->flags |= STATE_ENDING;
        add_ending(machine, node);
}

bool node_is_below_ending(Machine *machine, NodeId node, NodeId above) {
        if (index_set_is_empty(&machine->ending))
                return false;

        for (; node != NODE_NONE && node >= above; node = machine->nodes[node].parent)
                if (node_state(machine, node)->flags & STATE_ENDING)
                        return true;

        return false;
}

/* One step of a node that is ending. Once everything below it has ended, only its own attributes can delay the end. */
static bool tick_ending(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];

        if (definition->flags & NODE_LEAF)
                return definition->flags & NODE_ATTRIBUTED && attributes_have_ended(machine, node);
        if (definition->flags & NODE_UNINTERRUPTIBLE && attributes_continues(machine, node)) {
                bool ended = attributes_have_ended(machine, node);

                if (ended || attributes_continues(machine, node))
                        return ended;
        }
        if (node_state(machine, node)->flags & STATE_ENDING)
                return definition->type->finish(machine, node);

        return !node_ending_below(machine, node);
}

/* The halt of a leaf was reported when it began. */
static void report_end(Machine *machine, NodeId node) {
        bool attributed = machine->nodes[node].flags & NODE_ATTRIBUTED;
        bool notified = machine->nodes[node].flags & NODE_LEAF && !(attributed && attributes_continues(machine, node));
        Status status = attributed ? attributes_end(machine, node) : STATUS_HALTED;

        if (!notified)
                notify(machine, node, status);
}

static bool finish_ending(Machine *machine, NodeId node) {
        bool full = machine->full, deferring = machine->deferring, trying = machine->trying, ended;

        machine->full = true;
        machine->deferring = machine->trying = false;
        ended = tick_ending(machine, node);
        machine->full = full;
        machine->deferring = deferring;
        machine->trying = trying;
        machine->reason = REASON_NONE;
        if (!ended)
                return false;

        node_state(machine, node)->flags &= ~STATE_ENDING;
        index_set_remove(&machine->ending, node);
        node_release_conditions(machine, node);
        node_forget_counts_below(machine, node);
        report_end(machine, node);
        return true;
}

/* To be called when the node was just halted; the halt may be complete at once. */
static void begin_ending(Machine *machine, NodeId node) {
        bool leaf = machine->nodes[node].flags & NODE_LEAF, attributed = machine->nodes[node].flags & NODE_ATTRIBUTED;

        if (leaf && !(attributed && attributes_continues(machine, node)))
                notify(machine, node, STATUS_HALTED);

        /* A node has ended when everything below it has. */
        if ((attributed || !leaf) && node_ending_inside(machine, node))
                add_ending(machine, node);

        if (!index_set_has(&machine->ending, node)) {
                if (attributed || !leaf)
                        report_end(machine, node);
        } else if (!finish_ending(machine, node) && machine->host->halting)
                machine->host->halting(machine, node);
}

static void finish_endings_within(Machine *machine, NodeId from, NodeId end) {
        for (NodeId node = index_set_next(&machine->ending, from); node < end;
             node = index_set_next(&machine->ending, machine->nodes[node].end)) {
                bool again;

                finish_endings_within(machine, node + 1, machine->nodes[node].end);
                if (!finish_ending(machine, node))
                        continue;

                /* The root stays marked only if a node that continues asked for another tick. */
                again = index_set_has(&machine->marked, 0);
                node_mark(machine, node);
                if (!again)
                        index_set_remove(&machine->marked, 0);
        }
}

void node_finish_endings(Machine *machine) {
        finish_endings_within(machine, 0, machine->tree->n_nodes);
}

static void node_halt(Machine *machine, NodeId node) {
        Reason reason = machine->reason;

        machine->reason = REASON_NONE;
        halt_running(machine, node);
        node_state(machine, node)->status = STATUS_IDLE;
        if (machine->attention & ATTENTION_WAITING)
                node_stop_waiting(machine, node);
        if (node != 0) /* the root's mark asks for another tick */
                index_set_remove(&machine->marked, node);
        begin_ending(machine, node);
        machine->reason = reason;
}

void node_keep_count(Machine *machine, NodeId node) {
        index_set_add(&machine->counting, node);
        machine->attention |= ATTENTION_COUNTING;
}

void node_forget_kept_counts(Machine *machine, NodeId from, NodeId end) {
        for (NodeId loop = index_set_next(&machine->counting, from); loop < end;
             loop = index_set_next(&machine->counting, loop + 1)) {
                if (node_is_below_ending(machine, loop, from))
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

/* A control or decorator must not start again before its last activation has ended. */
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

/* IDLE: the guards let the node run. */
static Status guards_evaluate(Machine *machine, NodeId node) {
        static const Status answers[] = {
                [GUARD_FAIL_IF] = STATUS_FAILURE,
                [GUARD_SUCCESS_IF] = STATUS_SUCCESS,
                [GUARD_SKIP_IF] = STATUS_SKIPPED,
        };
        const MachineHost *host = machine->host;

        bool fresh = node_is_fresh(machine, node);
        Verdict verdict;

        if (fresh || node_state(machine, node)->flags & STATE_DEFERRED || node_is_waiting(machine, node))
                for (Guard guard = GUARD_FAIL_IF; guard <= GUARD_SKIP_IF; guard++) {
                        verdict = host->guard(machine, node, guard);
                        if (verdict == VERDICT_ERROR)
                                return node_expression_failed(machine, node);
                        if (verdict == VERDICT_YES) {
                                if (!fresh)
                                        halt_running(machine, node);
                                machine->reason = REASON_FAIL_IF + guard;
                                return answers[guard];
                        }
                }

        /* Any input can change its value. */
        verdict = host->guard(machine, node, GUARD_WHILE);
        if (verdict == VERDICT_ERROR)
                return node_expression_failed(machine, node);
        if (verdict == VERDICT_YES) {
                node_visit_always(machine, node);
                return STATUS_IDLE;
        }

        if (!fresh)
                node_reset(machine, node);
        machine->reason = REASON_WHILE;
        return STATUS_SKIPPED;
}

static Status complete(Machine *machine, NodeId node, Status status) {
        NodeState *state = node_state(machine, node);
        Status answer;

        if (state->flags & (STATE_TIMER | STATE_EXPIRED) && !(state->flags & STATE_ENDING) &&
            !(machine->nodes[node].type->flags & TYPE_KEEPS_TIMER))
                node_disarm_timer(machine, node);

        /* A result waits until every node that was halted below has ended. */
        if (G_UNLIKELY(!index_set_is_empty(&machine->ending)) && node_ending_inside(machine, node)) {
                state->flags |= STATE_HELD;
                state->result = (uint8_t) (status | machine->reason << 4);
                state->status = STATUS_RUNNING;
                machine->reason = REASON_NONE;
                return STATUS_RUNNING;
        }

        if (machine->attention & (ATTENTION_STICKY | ATTENTION_WAITING)) {
                index_set_remove(&machine->sticky, node);
                node_stop_waiting(machine, node);
        }
        if (status != STATUS_SKIPPED)
                node_forget_counts_below(machine, node);

        state->status = STATUS_IDLE;
        answer = status;
        if (G_UNLIKELY(node_has_attributes(machine, node)))
                answer = attributes_complete(machine, node, status);
        if (machine->host->changed)
                notify(machine, node, status);
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
                if (state->flags & STATE_DEFERRED && machine->host->waiting)
                        machine->host->waiting(machine, node);
                if (machine->host->changed && machine->nodes[node].flags & NODE_LEAF)
                        notify(machine, node, STATUS_RUNNING);
        }

        return status;
}

Status node_tick(Machine *machine, NodeId node) {
        const Node *definition = &machine->nodes[node];
        NodeState *state = node_state(machine, node);

        if (G_UNLIKELY(machine->attention & ATTENTION_CONTROLLED)) {
                Status status = attributes_forced(machine, node);

                if (status != STATUS_IDLE)
                        return node_settle(machine, node, status);
        }

        if (G_UNLIKELY(state->flags & STATE_HELD)) {
                if (node_ending_inside(machine, node))
                        return STATUS_RUNNING;

                state->flags &= ~STATE_HELD;
                machine->reason = state->result >> 4;
                return complete(machine, node, state->result & 0xf);
        }

        if (G_UNLIKELY(definition->flags & NODE_GUARDED)) {
                Status status = guards_evaluate(machine, node);

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

        if (G_UNLIKELY(state->flags & STATE_DEFERRED || machine->deferring || !index_set_is_empty(&machine->ending))) {
                if (inner_must_wait(machine, node))
                        return node_settle(machine, node, STATUS_RUNNING);
                /* The node begins, but its actions must wait. */
                if (machine->deferring && state->status == STATUS_IDLE) {
                        index_set_add(&machine->waiting, node);
                        machine->attention |= ATTENTION_WAITING;
                }
        }

        if (machine->host->changed && state->status == STATUS_IDLE)
                notify(machine, node, STATUS_RUNNING);

        if (G_UNLIKELY(definition->flags & NODE_LATE) && state->status == STATUS_IDLE &&
            !machine->host->fill_in(machine, node))
                return node_settle(machine, node, STATUS_FAILURE);

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

Status tick_only_child(Machine *machine, NodeId node) {
        return child_tick(machine, node + 1);
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

/* The walk along the routes ends early: the node's answer has no route, or something needs attention. The nodes between
 * it and the root resume their ticks. Only plain actions are settled here; other nodes already are. */
static __attribute__((noinline)) Status walk_interrupted(Machine *machine, NodeId root, NodeId node, Status status) {
        if (machine->nodes[node].flags & NODE_PLAIN_LEAF)
                status = leaf_settle(machine, node, status);

        while (node != root) {
                NodeId parent = machine->nodes[node].parent;

                status = machine->nodes[parent].type->course->resume(machine, parent, node, status);
                if (parent != root)
                        status = node_settle(machine, parent, status);
                node = parent;
        }

        return status;
}

/* Any node but an action without guards. */
static __attribute__((noinline)) Status begin_inner(Machine *machine, NodeId node) {
        return child_begin(machine, node);
}

/* Goes from leaf to leaf along the routes that the tree computed in advance (tree.h). The nodes in between are passed
 * by, and get no state unless a leaf keeps running. */
Status node_walk(Machine *machine, NodeId root) {
        const Node *nodes = machine->nodes;
        const Route *routes = machine->routes;
        NodeId next = root + 1;

        while (nodes[next].flags & NODE_PASSED)
                next++;

        do {
                NodeId node = next;
                Status status;

                if (G_LIKELY(nodes[node].flags & NODE_PLAIN_LEAF))
                        status = machine->leaf_start(machine, node);
                else {
                        status = begin_inner(machine, node);
                        if (machine->attention & ATTENTION_NODES)
                                return walk_interrupted(machine, root, node, status);
                }

                /* A branch is predicted, so the next leaf need not wait for the answer. */
                if (status == STATUS_SUCCESS)
                        next = routes[node].after[0];
                else if (G_LIKELY(status == STATUS_FAILURE))
                        next = routes[node].after[1];
                else
                        return walk_interrupted(machine, root, node, status);
        } while (!(next & ROUTE_OUT));

        return next & ~ROUTE_OUT;
}

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
