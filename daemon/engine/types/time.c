/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Delay, Timeout and RateController: decorators with a timer. */

#include "engine/node.h"
#include "engine/types/types.h"

enum {
        PHASE_WAITING,
        PHASE_CHILD,
};

typedef struct DelayParams {
        uint64_t delay;
} DelayParams;

typedef struct TimeoutParams {
        uint64_t timeout;
} TimeoutParams;

typedef struct RateParams {
        double hz;
        uint64_t period;
} RateParams;

static Status delay_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const DelayParams *params = node_params(machine, node);

        if (state->status == STATUS_IDLE) {
                state->phase = params->delay > 0 ? PHASE_WAITING : PHASE_CHILD;
                if (state->phase == PHASE_WAITING) {
                        node_arm_timer(machine, node, params->delay);
                        return STATUS_RUNNING;
                }
        }

        if (state->phase == PHASE_WAITING) {
                if (!(state->flags & STATE_EXPIRED))
                        return STATUS_RUNNING;

                state->phase = PHASE_CHILD;
        }

        return child_tick(machine, node + 1);
}

/* The child is ticked first: if it completes in the tick in which the time expires, its outcome counts. */
static Status timeout_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const TimeoutParams *params = node_params(machine, node);
        Status status;

        if (state->status == STATUS_IDLE && span_limits(params->timeout))
                node_arm_timer(machine, node, params->timeout);

        status = child_tick(machine, node + 1);
        if (status != STATUS_RUNNING || !(state->flags & STATE_EXPIRED))
                return status;

        node_reset(machine, node + 1);
        machine->reason = REASON_TIMEOUT;
        return STATUS_FAILURE;
}

/* The timer runs from one start of the child to the next permitted one. */
static Status rate_controller_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const RateParams *params = node_params(machine, node);
        Status status;

        if (node_is_fresh(machine, node + 1)) {
                if (state->flags & STATE_TIMER)
                        return STATUS_RUNNING;

                node_arm_timer(machine, node, params->period ?: (uint64_t) (1e6 / params->hz));
        }

        status = child_tick(machine, node + 1);
        if (status_is_outcome(status))
                node_keep_count(machine, node);

        return status;
}

static const ParamRule rate_rules[] = { { RULE_EXACTLY_ONE, { "hz", "period" } }, {} };

static unsigned timeout_never(const Node *nodes, NodeId node) {
        const TimeoutParams *params = nodes[node].params;
        unsigned never = outcomes_of_child(nodes, node);

        return span_limits(params->timeout) ? never & TYPE_NEVER_SUCCEEDS : never;
}

/* A Timeout in another one that expires no later has no effect. */
static void timeout_check(const Tree *tree, NodeId node, Findings *findings) {
        const Node *nodes = tree->nodes;
        const TimeoutParams *params = nodes[node].params, *outer;

        if (!span_limits(params->timeout))
                return;

        for (NodeId above = nodes[node].parent; above != NODE_NONE; above = nodes[above].parent) {
                if (nodes[above].type != &timeout_type || nodes[above].flags & NODE_LATE)
                        continue;

                outer = nodes[above].params;
                if (span_limits(outer->timeout) && outer->timeout <= params->timeout) {
                        findings_trap(findings, "timeout",
                                      "the Timeout '%s' above it expires no later, so this one has no effect",
                                      tree_node_name(tree, above));
                        return;
                }
        }
}

static const Param delay_params[] = {
        { .name = "delay",
          .kind = PARAM_SPAN,
          .offset = offsetof(DelayParams, delay),
          .required = true,
          .late = true,
          .title = true,
          .doc = "How long to wait before the child starts" },
        {},
};

const NodeType delay_type = {
        .name = "Delay",
        .class = NODE_DECORATOR,
        .params = delay_params,
        .params_size = sizeof(DelayParams),
        .summary = "Starts its child after a delay",
        .doc = "Its outcome is the child's.",
        .tick = delay_tick,
        .never = outcomes_of_child,
};

static const Param timeout_params[] = {
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(TimeoutParams, timeout),
          .required = true,
          .late = true,
          .title = true,
          .doc = "How long the child may run; \"0s\" or \"infinity\": no limit" },
        {},
};

const NodeType timeout_type = {
        .name = "Timeout",
        .class = NODE_DECORATOR,
        .params = timeout_params,
        .params_size = sizeof(TimeoutParams),
        .summary = "Halts its child and fails when it takes too long",
        .doc = "Its outcome is the child's, if the child completes in time. Else the child is halted, and the FAILURE "
               "follows when it has ended. The time that the child is waiting counts, too, for example for a lock.",
        .tick = timeout_tick,
        .never = timeout_never,
        .check = timeout_check,
};

static const Param rate_controller_params[] = {
        { .name = "hz",
          .kind = PARAM_NUMBER,
          .offset = offsetof(RateParams, hz),
          .late = true,
          .positive = true,
          .min = 0,
          .max = 1000000,
          .doc = "How often per second the child may start" },
        { .name = "period",
          .kind = PARAM_SPAN,
          .offset = offsetof(RateParams, period),
          .late = true,
          .positive = true,
          .doc = "Instead of hz: the time from one start of the child to the next" },
        {},
};

const NodeType rate_controller_type = {
        .name = "RateController",
        .class = NODE_DECORATOR,
        .flags = TYPE_KEEPS_TIMER | TYPE_REPEATS,
        .params = rate_controller_params,
        .params_size = sizeof(RateParams),
        .rules = rate_rules,
        .summary = "Limits how often its child starts",
        .doc = "Its outcome is the child's. If a loop or a reactive node directly above it starts it too early, it "
               "waits first. If there is another node between them, each end of this other node cancels the limit: "
               "then the child starts without waiting. It limits the time between two starts, not their number.",
        .tick = rate_controller_tick,
        .never = outcomes_of_child,
};
