/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decorators that wait: WaitFor until its conditions hold, OnChange for another value of an expression. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

enum {
        PHASE_WAITING,
        PHASE_CHILD,
};

typedef struct WaitForParams {
        uint64_t timeout;
} WaitForParams;

typedef struct OnChangeParams {
        const Script *of;
        int otherwise;
} OnChangeParams;

enum {
        OTHERWISE_WAIT,
        OTHERWISE_SKIP,
};

static bool wait_is_limited(const Node *definition) {
        const WaitForParams *params = definition->params;

        return params->timeout > 0 && params->timeout != SPAN_INFINITY;
}

/* If the conditions come to hold in the tick that sees the time pass, they win. */
static Status wait_for_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const WaitForParams *params = machine->nodes[node].params;
        Status status;

        if (state->status == STATUS_IDLE) {
                state->phase = STATUS_IDLE;
                if (wait_is_limited(&machine->nodes[node]))
                        node_arm_timer(machine, node, params->timeout);
        }

        status = node_look(machine, node);
        if (status == STATUS_ERROR)
                return status;
        if (status == STATUS_RUNNING || status == STATUS_FAILURE) {
                if (!(state->flags & STATE_EXPIRED))
                        return STATUS_RUNNING;
                status = STATUS_FAILURE;
        }

        node_reset_reactive(machine, node);
        machine->reason = status == STATUS_FAILURE ? REASON_TIMEOUT : REASON_NONE;
        return status;
}

static unsigned wait_for_never(const Node *nodes, NodeId node) {
        unsigned never = outlook_of_child(nodes, node) & TYPE_NEVER_SUCCEEDS;

        return wait_is_limited(&nodes[node]) ? never : never | TYPE_NEVER_FAILS;
}

static char *wait_for_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        *ret_is_error = true;
        if (tree->nodes[node + 1].flags & NODE_CONDITIONAL)
                return NULL;

        return g_strdup_printf("'%s' is not made of conditions only, so there is nothing that tells when to look again",
                               tree_node_name(tree, node + 1));
}

static const Param wait_for_params[] = {
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(WaitForParams, timeout),
          .fallback = "\"infinity\"",
          .doc = "How long to wait; then it is a FAILURE" },
        {},
};

const NodeType wait_for_type = {
        .name = "WaitFor",
        .class = NODE_DECORATOR,
        .flags = TYPE_REACTIVE,
        .params = wait_for_params,
        .params_size = sizeof(WaitForParams),
        .summary = "Waits until a condition holds",
        .doc = "RUNNING while its child fails, or is not known yet; SUCCESS as soon as it succeeds. The child is a "
               "condition, or made of conditions only, in SubTrees, too, without guards, hooks or locks. Nothing is "
               "polled: it is looked "
               "at "
               "when a value changes.",
        .tick = wait_for_tick,
        .halt = node_reset_reactive,
        .never = wait_for_never,
        .check = wait_for_check,
};

/* What it looks at may change with any input. */
static Status on_change_tick(Machine *machine, NodeId node) {
        NodeState *state = node_state(machine, node);
        const OnChangeParams *params = machine->nodes[node].params;

        if (state->status == STATUS_IDLE)
                state->phase = PHASE_WAITING;

        if (state->phase == PHASE_WAITING) {
                Verdict verdict = machine->host->has_changed(machine, node, params->of);

                if (verdict == VERDICT_ERROR)
                        return node_expression_failed(machine, node);
                if (verdict == VERDICT_NO && params->otherwise == OTHERWISE_WAIT) {
                        node_visit_always(machine, node);
                        return STATUS_RUNNING;
                }
                if (verdict == VERDICT_NO) {
                        machine->reason = REASON_UNCHANGED;
                        return STATUS_SKIPPED;
                }

                state->phase = PHASE_CHILD;
        }

        return child_tick(machine, node + 1);
}

static unsigned on_change_never(const Node *nodes, NodeId node) {
        const OnChangeParams *params = nodes[node].params;

        return outlook_of_child(nodes, node) | (params->otherwise == OTHERWISE_SKIP ? TYPE_SKIPS : 0);
}

static const char *const otherwise_names[] = { "wait", "skip", NULL };

static const Param on_change_params[] = {
        { .name = "of",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(OnChangeParams, of),
          .required = true,
          .doc = "What is compared with the value that it had when the child was last started" },
        { .name = "otherwise",
          .kind = PARAM_ENUM,
          .offset = offsetof(OnChangeParams, otherwise),
          .fallback = "\"wait\"",
          .values = otherwise_names,
          .doc = "While it has not changed: wait until it has, or be skipped" },
        {},
};

const NodeType on_change_type = {
        .name = "OnChange",
        .class = NODE_DECORATOR,
        .params = on_change_params,
        .params_size = sizeof(OnChangeParams),
        .summary = "Runs its child at first, and then once each time that a value has changed",
        .doc = "Its outcome is the child's. The value is kept for the whole run, and compared when the node starts, "
               "not "
               "while the child runs.",
        .tick = on_change_tick,
        .never = on_change_never,
};
