/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* RunOnce and Precondition: decorators that decide whether their child starts. */

#include "engine/node.h"
#include "engine/types/types.h"

typedef struct RunOnceParams {
        bool then_skip;
} RunOnceParams;

typedef struct PreconditionParams {
        const Script *condition;
        int otherwise;
} PreconditionParams;

/* The outcomes that "else" can name. */
static const Status outcomes[] = { STATUS_SUCCESS, STATUS_FAILURE, STATUS_SKIPPED, STATUS_RUNNING };

/* The child's outcome is kept in phase, which nothing resets. */
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

/* phase: the condition was true, so the child may run. */
static Status precondition_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const PreconditionParams *params = machine->nodes[node].params;
        Status status;

        if (state->status == STATUS_IDLE)
                state->phase = false;

        if (!state->phase || node_is_waiting(machine, node)) {
                Verdict verdict = machine->host->test(machine, node, params->condition);

                if (verdict == VERDICT_ERROR)
                        return node_expression_failed(machine, node);

                if (verdict == VERDICT_NO) {
                        node_reset(machine, node + 1);
                        state->phase = false;
                        if (outcomes[params->otherwise] == STATUS_RUNNING)
                                node_visit_always(machine, node);
                        else
                                machine->reason = REASON_TEST;

                        return outcomes[params->otherwise];
                }

                state->phase = true;
        }

        status = child_tick(machine, node + 1);
        if (status == STATUS_RUNNING && G_UNLIKELY(node_is_waiting(machine, node)))
                node_visit_always(machine, node);

        return status;
}

static unsigned run_once_never(const Node *nodes, NodeId node) {
        const RunOnceParams *params = nodes[node].params;

        return outcomes_of_child(nodes, node) | (params->then_skip ? TYPE_SKIPS : 0);
}

static unsigned precondition_never(const Node *nodes, NodeId node) {
        const PreconditionParams *params = nodes[node].params;
        unsigned never = outcomes_of_child(nodes, node);

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
          .doc = "When started again: SKIPPED; if false, the outcome of the first execution" },
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
        .doc = "A child that has succeeded or failed does not start again in this run. A child that was skipped or "
               "halted does. In a ForEach with a concurrency above 1, each copy of the child has its own RunOnce.",
        .tick = run_once_tick,
        .never = run_once_never,
};

static const char *const otherwise_names[] = { "success", "failure", "skipped", "running", NULL };

static const Param precondition_params[] = {
        { .name = "if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(PreconditionParams, condition),
          .required = true,
          .doc = "An expression that must be true for the child to start" },
        { .name = "else",
          .kind = PARAM_ENUM,
          .offset = offsetof(PreconditionParams, otherwise),
          .fallback = "\"failure\"",
          .values = otherwise_names,
          .doc = "The outcome if it is not true; \"running\": wait until it is true" },
        {},
};

const NodeType precondition_type = {
        .name = "Precondition",
        .class = NODE_DECORATOR,
        .flags = TYPE_PASSIVE,
        .params = precondition_params,
        .params_size = sizeof(PreconditionParams),
        .summary = "Starts its child only if an expression is true",
        .doc = "The expression is evaluated once, before the child starts, and not while it runs.",
        .tick = precondition_tick,
        .never = precondition_never,
};
