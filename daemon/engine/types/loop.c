/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decorators that run their child over and over: KeepRunningUntilFailure, and Loop over the elements of a queue. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

typedef struct LoopParams {
        const char *queue;
        const char *variable;
        int if_empty;
} LoopParams;

/* Those that if_empty names. */
static const Status outcomes[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SKIPPED };

/* One iteration a tick; the tick for the next one is asked for. */
static Status iterate(Machine *machine, NodeId node) {
        NodeId child = node + 1;
        bool took_time = !node_is_fresh(machine, child);
        Status status = child_tick(machine, child);

        if (status == STATUS_SUCCESS || status == STATUS_SKIPPED)
                node_visit_again(machine, child, took_time);

        return status == STATUS_FAILURE || status == STATUS_ERROR ? status : STATUS_RUNNING;
}

/* A node that completes is no longer to be visited for its next iteration. */
static Status stop_iterating(Machine *machine, NodeId node, Status status) {
        node_reset(machine, node + 1);
        return status;
}

static Status keep_running_tick(Machine *machine, NodeId node) {
        Status status = iterate(machine, node);

        return status == STATUS_FAILURE ? stop_iterating(machine, node, status) : status;
}

/* How many elements have been handed out is at position. */
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

        status = iterate(machine, node);
        return status == STATUS_FAILURE ? stop_iterating(machine, node, status) : status;
}

static unsigned keep_running_never(const Node *nodes, NodeId node) {
        return outlook_of_child(nodes, node) & TYPE_NEVER_FAILS;
}

static const char *const keep_running_aliases[] = { "UntilFail", NULL };

const NodeType keep_running_until_failure_type = {
        .name = "KeepRunningUntilFailure",
        .aliases = keep_running_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_NEVER_SUCCEEDS,
        .summary = "Runs its child again and again until it fails",
        .doc = "RUNNING until the child fails, then FAILURE. The next round follows at once when the child took time, "
               "else after the tree's interval.",
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
          .doc = "The blackboard key of the list whose elements are handed out" },
        { .name = "variable",
          .kind = PARAM_STRING,
          .offset = offsetof(LoopParams, variable),
          .required = true,
          .writes = true,
          .doc = "The blackboard key that receives the element" },
        { .name = "if_empty",
          .kind = PARAM_ENUM,
          .offset = offsetof(LoopParams, if_empty),
          .fallback = "\"SUCCESS\"",
          .values = outcome_names,
          .doc = "The outcome when no element is left" },
        {},
};

static unsigned loop_never(const Node *nodes, NodeId node) {
        const LoopParams *params = nodes[node].params;
        Status if_empty = outcomes[params->if_empty];

        return (if_empty != STATUS_SUCCESS ? TYPE_NEVER_SUCCEEDS : 0) |
               (if_empty != STATUS_FAILURE ? outlook_of_child(nodes, node) & TYPE_NEVER_FAILS : 0) |
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
        .doc = "FAILURE as soon as the child fails; if_empty when no element is left.",
        .tick = loop_tick,
        .never = loop_never,
};
