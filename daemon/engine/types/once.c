/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decorators that decide whether their child is started at all: RunOnce, Precondition. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

typedef struct RunOnceParams {
        bool then_skip;
} RunOnceParams;

typedef struct PreconditionParams {
        const Script *condition;
        int otherwise;
} PreconditionParams;

/* Those that "else" names. */
static const Status outcomes[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SKIPPED, STATUS_RUNNING };

/* The outcome of the one time is in phase, which nothing resets. */
static Status run_once_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const RunOnceParams *params = machine->nodes[node].params;
        Status status;

        if (state->phase != STATUS_IDLE)
                return params->then_skip ? STATUS_SKIPPED : state->phase;

        status = child_tick(machine, node + 1);
        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                state->phase = status;

        return status;
}

/* The child is running while the latch is closed, which is in phase. */
static Status precondition_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const PreconditionParams *params = machine->nodes[node].params;

        if (state->status == STATUS_IDLE)
                state->phase = false;

        if (!state->phase) {
                Verdict verdict = machine->host->test(machine, node, params->condition);

                if (verdict == VERDICT_ERROR)
                        return node_expression_failed(machine, node);

                if (verdict == VERDICT_NO) {
                        if (outcomes[params->otherwise] == STATUS_RUNNING)
                                node_visit_always(machine, node);
                        else
                                machine->reason = REASON_TEST;

                        return outcomes[params->otherwise];
                }

                state->phase = true;
        }

        return child_tick(machine, node + 1);
}

static unsigned run_once_never(const Node *nodes, NodeId node) {
        const RunOnceParams *params = nodes[node].params;

        return outlook_of_child(nodes, node) | (params->then_skip ? TYPE_SKIPS : 0);
}

static unsigned precondition_never(const Node *nodes, NodeId node) {
        const PreconditionParams *params = nodes[node].params;
        unsigned never = outlook_of_child(nodes, node);

        switch (outcomes[params->otherwise]) {
        case STATUS_SUCCESS:
                return never & TYPE_NEVER_FAILS;
        case STATUS_FAILURE:
                return never & TYPE_NEVER_SUCCEEDS;
        case STATUS_SKIPPED:
                return never | TYPE_SKIPS;
        default:
                return never;
        }
}

static const Param run_once_params[] = {
        { .name = "then_skip",
          .kind = PARAM_BOOL,
          .offset = offsetof(RunOnceParams, then_skip),
          .fallback = "true",
          .doc = "SKIPPED from then on; false: the outcome of that one time" },
        {},
};

static const char *const run_once_aliases[] = { "OneShot", NULL };

const NodeType run_once_type = {
        .name = "RunOnce",
        .aliases = run_once_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_ONCE,
        .params = run_once_params,
        .params_size = sizeof(RunOnceParams),
        .summary = "Runs its child once in a run",
        .doc = "When the child has completed it is not started again. A child that was skipped, or halted before it "
               "completed, has not run.",
        .tick = run_once_tick,
        .never = run_once_never,
};

static const char *const otherwise_names[] = { "SUCCESS", "FAILURE", "SKIPPED", "RUNNING", NULL };

static const Param precondition_params[] = {
        { .name = "if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(PreconditionParams, condition),
          .required = true,
          .doc = "An expression: must be true when the child is to start" },
        { .name = "else",
          .kind = PARAM_ENUM,
          .offset = offsetof(PreconditionParams, otherwise),
          .fallback = "\"FAILURE\"",
          .values = otherwise_names,
          .doc = "The outcome when it is not" },
        {},
};

const NodeType precondition_type = {
        .name = "Precondition",
        .class = NODE_DECORATOR,
        .params = precondition_params,
        .params_size = sizeof(PreconditionParams),
        .summary = "Starts its child only if a condition holds",
        .doc = "The condition is looked at once, when the child is to start; not while it runs.",
        .tick = precondition_tick,
        .never = precondition_never,
};
