/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decorators around a timer: Delay before the child, Timeout around it. */

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

static Status delay_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const DelayParams *params = machine->nodes[node].params;

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

/* The child is ticked first: if it ends in the tick that sees the time pass, it wins. */
static Status timeout_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const TimeoutParams *params = machine->nodes[node].params;
        Status status;

        if (state->status == STATUS_IDLE && params->timeout > 0 && params->timeout != SPAN_INFINITY)
                node_arm_timer(machine, node, params->timeout);

        status = child_tick(machine, node + 1);
        if (status != STATUS_RUNNING || !(state->flags & STATE_EXPIRED))
                return status;

        node_reset(machine, node + 1);
        machine->reason = REASON_TIMEOUT;
        return STATUS_FAILURE;
}

static const Param delay_params[] = {
        { .name = "delay",
          .kind = PARAM_SPAN,
          .offset = offsetof(DelayParams, delay),
          .required = true,
          .doc = "how long to wait before the child is started" },
        {},
};

const NodeType delay_type = {
        .name = "Delay",
        .class = NODE_DECORATOR,
        .params = delay_params,
        .params_size = sizeof(DelayParams),
        .summary = "Starts its child after a while",
        .doc = "Its outcome is the child's.",
        .tick = delay_tick,
};

static const Param timeout_params[] = {
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(TimeoutParams, timeout),
          .required = true,
          .doc = "how long the child may run; 0 or \"infinity\": no limit" },
        {},
};

const NodeType timeout_type = {
        .name = "Timeout",
        .class = NODE_DECORATOR,
        .params = timeout_params,
        .params_size = sizeof(TimeoutParams),
        .summary = "Halts its child and fails when it takes too long",
        .doc = "Its outcome is the child's, if that comes in time. Else the child is halted, and the FAILURE follows "
               "once it has really ended.",
        .tick = timeout_tick,
};
