/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* WaitFor and OnChange: decorators that wait for a condition, or for a new value of an expression. */

#include "engine/node.h"
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

/* If the conditions become true in the tick in which the time expires, the outcome is SUCCESS. */
static Status wait_for_tick(Machine *machine, NodeId node) {
        static const char *const wrong[] = { "parameter", NULL };
        NodeState *state = node_state(machine, node);
        const WaitForParams *params = node_params(machine, node);
        Reason reason = REASON_NONE;
        Status status;

        if (state->status == STATUS_IDLE) {
                state->phase = STATUS_IDLE;
                if (span_limits(params->timeout))
                        node_arm_timer(machine, node, params->timeout);
        }

        status = node_evaluate_condition(machine, node);
        if (status == STATUS_ERROR)
                return status;
        /* A condition whose parameters are wrong is no condition that can become true. */
        if (status == STATUS_RUNNING ||
            (status == STATUS_FAILURE &&
             !(machine->host->cause_matches && machine->host->cause_matches(machine, node + 1, wrong)))) {
                if (!(state->flags & STATE_EXPIRED))
                        return STATUS_RUNNING;
                status = STATUS_FAILURE;
                reason = REASON_TIMEOUT;
        }

        node_reset_reactive(machine, node);
        machine->reason = reason;
        return status;
}

static unsigned wait_for_never(const Node *nodes, NodeId node) {
        const WaitForParams *params = nodes[node].params;
        unsigned never = outcomes_of_child(nodes, node) & TYPE_NEVER_SUCCEEDS;

        return span_limits(params->timeout) ? never : never | TYPE_NEVER_FAILS;
}

/* Names the node below that is at fault. */
static void wait_for_check(const Tree *tree, NodeId node, Findings *findings) {
        const Node *nodes = tree->nodes;
        NodeId wrong = node + 1, child = wrong;

        if (nodes[wrong].flags & NODE_CONDITIONAL)
                return;

        while (!(nodes[wrong].flags & (NODE_LEAF | NODE_GUARDED | NODE_ATTRIBUTED)) && child < nodes[wrong].end) {
                for (child = wrong + 1; child < nodes[wrong].end && nodes[child].flags & NODE_CONDITIONAL;)
                        child = nodes[child].end;
                if (child < nodes[wrong].end)
                        wrong = child;
        }

        findings->node = wrong;
        if (nodes[wrong].type->class == NODE_ACTION)
                findings_error(findings, "child", -1,
                               "'%s' is an action, so WaitFor cannot know when to evaluate it again; a Command is a "
                               "condition that runs a program again and again",
                               tree_node_name(tree, wrong));
        else
                findings_error(findings, "child", -1, "'%s' %s, so WaitFor cannot know when to evaluate it again",
                               tree_node_name(tree, wrong),
                               nodes[wrong].flags & (NODE_GUARDED | NODE_ATTRIBUTED)
                                       ? "has a guard, a hook or a lock"
                                       : "decides by more than the values of conditions");
        findings->node = node;
}

static const Param wait_for_params[] = {
        { .name = "timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(WaitForParams, timeout),
          .late = true,
          .fallback = "\"infinity\"",
          .doc = "How long to wait before it fails" },
        {},
};

const NodeType wait_for_type = {
        .name = "WaitFor",
        .class = NODE_DECORATOR,
        .flags = TYPE_REACTIVE,
        .params = wait_for_params,
        .params_size = sizeof(WaitForParams),
        .summary = "Waits until a condition is true",
        .doc = "RUNNING while its child fails or its value is not known yet. SUCCESS as soon as the child succeeds. "
               "The child must be a condition, or consist of conditions only (also in SubTrees), without guards, "
               "hooks or locks. It is evaluated when a value changes, and a last time when the timeout expires. "
               "FAILURE if a parameter of the condition is wrong.",
        .tick = wait_for_tick,
        .halt = node_reset_reactive,
        .never = wait_for_never,
        .check = wait_for_check,
};

/* Any input can change the value. */
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

        return outcomes_of_child(nodes, node) | (params->otherwise == OTHERWISE_SKIP ? TYPE_SKIPS : 0);
}

static const char *const otherwise_names[] = { "wait", "skip", NULL };

static const Param on_change_params[] = {
        { .name = "of",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(OnChangeParams, of),
          .required = true,
          .doc = "The expression whose value is compared" },
        { .name = "otherwise",
          .kind = PARAM_ENUM,
          .offset = offsetof(OnChangeParams, otherwise),
          .fallback = "\"wait\"",
          .values = otherwise_names,
          .doc = "If the value has not changed: wait until it changes, or SKIPPED at once" },
        {},
};

const NodeType on_change_type = {
        .name = "OnChange",
        .class = NODE_DECORATOR,
        .flags = TYPE_REPEATS,
        .params = on_change_params,
        .params_size = sizeof(OnChangeParams),
        .summary = "Runs its child when the value of an expression has changed; in a loop, at each change",
        .doc = "When the node starts, it compares the value with that at the last start of the child in this run. If "
               "the value has changed, or if this is the first time, the child starts, and the outcome is the child's. "
               "Else 'otherwise' decides. The child counts as started also if its guard skips it. While the child "
               "runs, the value is not compared.",
        .tick = on_change_tick,
        .never = on_change_never,
};
