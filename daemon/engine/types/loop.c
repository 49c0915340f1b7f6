/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* KeepRunningUntilFailure, and Loop over the elements of a list: decorators that run their child again and again. */

#include "engine/node.h"
#include "engine/types/outcome-analysis.h"
#include "engine/types/types.h"

typedef struct LoopParams {
        const char *queue;
        const char *variable;
        int if_empty;
} LoopParams;

/* The outcomes that if_empty can name. */
static const Status outcomes[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SKIPPED };

/* Runs one iteration, and asks for a tick for the next one. */
static Status iterate(Machine *machine, NodeId node, bool at_once) {
        NodeId child = node + 1;
        bool took_time = !node_is_fresh(machine, child);
        Status status = child_tick(machine, child);

        if (status == STATUS_SUCCESS || status == STATUS_SKIPPED)
                node_visit_again(machine, child, took_time || at_once);

        return status == STATUS_FAILURE || status == STATUS_ERROR ? status : STATUS_RUNNING;
}

/* Resets the child, so that ticks no longer visit it for a next iteration. */
static Status stop_iterating(Machine *machine, NodeId node, Status status) {
        node_reset(machine, node + 1);
        return status;
}

static Status keep_running_tick(Machine *machine, NodeId node) {
        Status status = iterate(machine, node, false);

        return status == STATUS_FAILURE ? stop_iterating(machine, node, status) : status;
}

/* A list has an end, so two elements need no pause between them. But an endless loop may be around it: that one is
 * slowed down at the first element. The number of elements so far is at position. */
static Status loop_tick(Machine *machine, NodeId node) {
        const LoopParams *params = machine->nodes[node].params;
        NodeState *state = node_state(machine, node);
        Status status;

        if (state->status == STATUS_IDLE)
                state->position = 0;

        if (node_is_fresh(machine, node + 1)) {
                if (!machine->host->next_element(machine, node, params->queue, params->variable, state->position))
                        return stop_iterating(machine, node, outcomes[params->if_empty]);

                state->position++;
        }

        status = iterate(machine, node, state->position > 1 || machine->unprompted < UNPROMPTED_MAX);
        machine->unprompted++;
        return status == STATUS_FAILURE ? stop_iterating(machine, node, status) : status;
}

static unsigned keep_running_never(const Node *nodes, NodeId node) {
        return outcomes_of_child(nodes, node) & TYPE_NEVER_FAILS;
}

static const char *const keep_running_aliases[] = { "UntilFail", NULL };

const NodeType keep_running_until_failure_type = {
        .name = "KeepRunningUntilFailure",
        .aliases = keep_running_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_NEVER_SUCCEEDS,
        .summary = "Runs its child again and again until it fails",
        .doc = "RUNNING until the child fails, then FAILURE. The next round follows at once if the child took time, "
               "else "
               "with the next tick, after the tree's interval at the latest.",
        .tick = keep_running_tick,
        .never = keep_running_never,
};

static const char *const outcome_names[] = { "SUCCESS", "FAILURE", "SKIPPED", NULL };

static const Param loop_params[] = {
        { .name = "queue",
          .kind = PARAM_STRING,
          .offset = offsetof(LoopParams, queue),
          .required = true,
          .reads = true,
          .doc = "The variable with the list" },
        { .name = "variable",
          .kind = PARAM_STRING,
          .offset = offsetof(LoopParams, variable),
          .required = true,
          .writes = true,
          .doc = "The variable that receives the element" },
        { .name = "if_empty",
          .kind = PARAM_ENUM,
          .offset = offsetof(LoopParams, if_empty),
          .fallback = "\"SUCCESS\"",
          .values = outcome_names,
          .doc = "The outcome when there are no more elements" },
        {},
};

static unsigned loop_never(const Node *nodes, NodeId node) {
        const LoopParams *params = nodes[node].params;
        Status if_empty = outcomes[params->if_empty];

        return (if_empty != STATUS_SUCCESS ? TYPE_NEVER_SUCCEEDS : 0) |
               (if_empty != STATUS_FAILURE ? outcomes_of_child(nodes, node) & TYPE_NEVER_FAILS : 0) |
               (if_empty == STATUS_SKIPPED ? TYPE_SKIPS : 0);
}

static const char *const loop_aliases[] = { "LoopInt", "LoopDouble", "LoopBool", "LoopString", NULL };

const NodeType loop_type = {
        .name = "Loop",
        .aliases = loop_aliases,
        .class = NODE_DECORATOR,
        .params = loop_params,
        .params_size = sizeof(LoopParams),
        .summary = "Runs its child once for each element of a list",
        .doc = "FAILURE as soon as the child fails; if_empty when there are no more elements. The next element follows "
               "at once, but the daemon can do other work in between.",
        .tick = loop_tick,
        .never = loop_never,
};
