/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Leaves as the machine sees them: actions are started, waited for and halted by the host, conditions looked at. */

#include "engine/node-leaf.h"

Status leaf_settle(Machine *machine, NodeId leaf, Status status) {
        if (G_LIKELY(status != STATUS_ERROR))
                return node_settle(machine, leaf, status);

        node_settle(machine, leaf, STATUS_FAILURE);
        return node_expression_failed(machine, leaf);
}

/* A condition below a reactive node is kept until that is through with it. */
Status condition_tick(Machine *machine, NodeId node) {
        Status status = machine->host->condition_look(machine, node);

        if (machine->nodes[node].flags & NODE_RETAINED)
                index_set_add(&machine->retained, node);

        status = leaf_settle(machine, node, status);
        if (status != STATUS_RUNNING && !(machine->nodes[node].flags & NODE_RETAINED))
                machine->host->condition_release(machine, node);

        return status;
}

static void condition_halt(Machine *machine, NodeId node) {
        if (!(machine->nodes[node].flags & NODE_RETAINED))
                machine->host->condition_release(machine, node);
}

/* An action must not start while what it replaces runs, nor while its own last activation is still ending. */
static bool leaf_must_wait(Machine *machine, NodeId node) {
        return (machine->deferring && !(machine->nodes[node].flags & NODE_IMMEDIATE)) ||
               node_state(machine, node)->flags & STATE_ENDING;
}

static Status leaf_tick_running(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (state->flags & STATE_DEFERRED) {
                if (leaf_must_wait(machine, node))
                        return STATUS_RUNNING;

                state->flags &= ~STATE_DEFERRED;
                index_set_remove(&machine->deferred, node);
                return machine->leaf_start(machine, node);
        }

        if (state->flags & STATE_ENDED) {
                state->flags &= ~STATE_ENDED;
                return state->result;
        }

        return machine->host->leaf_poll ? machine->host->leaf_poll(machine, node) : STATUS_RUNNING;
}

Status leaf_tick(Machine *machine, NodeId node) {
        if (node_state(machine, node)->status == STATUS_RUNNING)
                return leaf_tick_running(machine, node);

        if (G_UNLIKELY(machine->deferring || node_state(machine, node)->flags & STATE_ENDING) &&
            leaf_must_wait(machine, node)) {
                node_state(machine, node)->flags |= STATE_DEFERRED;
                index_set_add(&machine->deferred, node);
                return STATUS_RUNNING;
        }

        return machine->leaf_start(machine, node);
}

void leaf_halt(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);

        if (machine->nodes[node].type->class == NODE_CONDITION) {
                condition_halt(machine, node);
        } else if (state->flags & STATE_DEFERRED) {
                state->flags &= ~STATE_DEFERRED;
                index_set_remove(&machine->deferred, node);
        } else if (state->flags & STATE_ENDED) {
                state->flags &= ~STATE_ENDED;
        } else if (!machine->host->leaf_halt(machine, node)) {
                node_set_ending(machine, node);
        }
}
