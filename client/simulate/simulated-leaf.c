/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Simulates one leaf from its start to its end, for simulation.c. The tables of the types say what a leaf does, so that
 * no type is known here by its name. */

#include <json-c/linkhash.h>

#include "basic/cause.h"
#include "basic/span.h"
#include "client/simulate/simulated-leaf.h"
#include "script/script-status.h"

typedef struct SimulatedLeaf {
        const Outcome *outcome;
        const Param *computed;  /* its script, which gives its result; NULL: none, or the scenario says the result */
        BlackboardWatch *reads; /* the variables that the script reads; NULL: it is code, which runs once */
        bool stale;             /* the script is to be evaluated (again) */
        Status value;           /* of a condition */
        uint64_t known_at;      /* of a condition: when its value is first known */
        Timer *next;            /* its end, or the next change of a condition; NULL: never */
        bool stopping;
} SimulatedLeaf;

static const SimulationContext *context_of(const Leaf *leaf) {
        return (const SimulationContext *) leaf->services;
}

static uint64_t now_of(const Leaf *leaf) {
        return timers_now(leaf->services->timers, TIMER_MONOTONIC);
}

/* The parameter of that name and kind, or NULL. */
static const void *find_param(const Leaf *leaf, const char *name, ParamKind kind) {
        for (const Param *param = leaf->type->params; param && param->name; param++)
                if (param->kind == kind && g_str_equal(param->name, name))
                        return (const char *) leaf->params + param->offset;

        return NULL;
}

static Status result_of(const Leaf *leaf) {
        const SimulatedLeaf *op = leaf->op;

        if (op->outcome->result != STATUS_IDLE)
                return op->outcome->result;

        return leaf->type->flags & TYPE_NEVER_SUCCEEDS ? STATUS_FAILURE : STATUS_SUCCESS;
}

/* A leaf with a duration takes that time. */
static uint64_t time_of(const Leaf *leaf) {
        const uint64_t *duration = find_param(leaf, "duration", PARAM_SPAN);
        const SimulatedLeaf *op = leaf->op;

        return op->outcome->timed || !duration ? op->outcome->after : *duration;
}

/* NULL: the scenario gives none. */
static Cause *make_cause(const Leaf *leaf, const char *kind, const char *text) {
        Cause *cause = kind || text ? cause_of_pattern(kind, text) : NULL;

        if (cause)
                cause->node = leaf->node;
        return cause;
}

/* The script of a type that does nothing but evaluate it, or NULL. An expression over more than the variables ("value")
 * cannot be evaluated here. */
static const Param *find_script(const NodeType *type) {
        for (const Param *param = type->params; param && param->name; param++)
                if ((param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSION) && !param->extra)
                        return param;

        return NULL;
}

static Status compute(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;
        const Script *script;
        Cause *cause = NULL;

        if (!op->stale)
                return op->value;

        op->stale = false;
        script = *(const Script *const *) (const void *) ((const char *) leaf->params + op->computed->offset);
        op->value = op->computed->kind == PARAM_CODE
                            ? script_status_of_code(script, leaf->blackboard, &cause)
                            : script_status_of_test(script, leaf->blackboard, NULL, NULL, &cause);
        leaf_give_cause(leaf, cause);
        return op->value;
}

static Status perform(Leaf *leaf) {
        const Outcome *outcome = ((const SimulatedLeaf *) leaf->op)->outcome;
        Status status = result_of(leaf);

        if (status != STATUS_SUCCESS)
                leaf_give_cause(leaf, make_cause(leaf, outcome->cause_kind, outcome->cause));
        if (outcome->outputs) {
                json_object_object_foreach(outcome->outputs, key, value)
                        leaf_set_output(leaf, key, json_object_get(value));
        }

        return status;
}

static void on_end(void *userdata) {
        Leaf *leaf = userdata;
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        leaf_end(leaf, op->stopping ? STATUS_SKIPPED : perform(leaf));
}

static Timer *timer_after(const Leaf *leaf, uint64_t delay, TimerCallback callback) {
        return delay < SPAN_INFINITY - now_of(leaf) ? timer_new(leaf->services->timers, delay, callback, (Leaf *) leaf)
                                                    : NULL;
}

static Status start_action(Leaf *leaf) {
        const SimulationContext *context = context_of(leaf);
        const char *const *message = find_param(leaf, "message", PARAM_STRING);
        SimulatedLeaf *op = leaf->op;
        uint64_t time = time_of(leaf);

        if (message && *message)
                context->remarked(leaf->node, "log", *message, context->userdata);

        if (time == 0 || leaf->type->flags & TYPE_IMMEDIATE)
                return perform(leaf);

        op->next = timer_after(leaf, time, on_end);
        return STATUS_RUNNING;
}

/* Sets the current value of the condition; returns the time of its next change. */
static uint64_t evaluate_condition(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;
        const Outcome *outcome = op->outcome;
        uint64_t now = now_of(leaf);
        const char *kind = outcome->cause_kind, *cause = outcome->cause;
        uint32_t i;

        op->value = STATUS_RUNNING;
        if (now < op->known_at)
                return op->known_at;

        op->value = result_of(leaf);
        for (i = 0; i < outcome->n_changes && outcome->changes[i].at <= now; i++) {
                op->value = outcome->changes[i].result;
                kind = outcome->changes[i].cause_kind;
                cause = outcome->changes[i].cause;
        }

        leaf_give_cause(leaf, op->value == STATUS_FAILURE ? make_cause(leaf, kind, cause) : NULL);
        return i < outcome->n_changes ? outcome->changes[i].at : SPAN_INFINITY;
}

static void on_change(void *userdata);

static void follow_condition(Leaf *leaf) {
        uint64_t next = evaluate_condition(leaf);
        SimulatedLeaf *op = leaf->op;

        if (next != SPAN_INFINITY)
                op->next = timer_after(leaf, next - now_of(leaf), on_change);
}

static void on_change(void *userdata) {
        Leaf *leaf = userdata;
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        follow_condition(leaf);
        leaf_set_value(leaf, op->value);
}

static Status start_condition(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;
        uint64_t now = now_of(leaf), after = op->outcome->after;

        op->known_at = after < SPAN_INFINITY - now ? now + after : SPAN_INFINITY;
        follow_condition(leaf);
        return op->value;
}

static void on_variables_changed(void *userdata) {
        Leaf *leaf = userdata;
        SimulatedLeaf *op = leaf->op;

        if (op->stale)
                return;

        op->stale = true;
        leaf_value_changed(leaf);
}

static Status start_computed(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;
        const Script *script =
                *(const Script *const *) (const void *) ((const char *) leaf->params + op->computed->offset);

        op->stale = true;
        if (op->computed->kind == PARAM_EXPRESSION)
                op->reads = blackboard_watch(leaf->blackboard, script_reads(script), on_variables_changed, leaf);
        return compute(leaf);
}

/* Whether the scenario gives the result. */
static bool is_given(const Outcome *outcome) {
        return outcome->result != STATUS_IDLE || outcome->outputs || outcome->n_changes > 0;
}

static Status simulated_start(Leaf *leaf) {
        const SimulationContext *context = context_of(leaf);
        SimulatedLeaf *op = leaf->op;
        Status status;

        op->outcome = scenario_outcome(context->scenario, context->tree, leaf->node, leaf->attempt - 1);
        if (!is_given(op->outcome))
                op->computed = find_script(leaf->type);

        if (op->computed)
                status = start_computed(leaf);
        else
                status = leaf->type->class == NODE_CONDITION ? start_condition(leaf) : start_action(leaf);

        context->started(leaf->node, status, context->userdata);
        return status;
}

static bool simulated_halt(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        op->stopping = true;
        if (op->outcome->halt == 0)
                return true;

        op->next = timer_after(leaf, op->outcome->halt, on_end);
        return false;
}

static void simulated_release(Leaf *leaf) {
        SimulatedLeaf *op = leaf->op;

        g_clear_pointer(&op->next, timer_free);
        g_clear_pointer(&op->reads, blackboard_watch_free);
}

static Status simulated_evaluate(Leaf *leaf) {
        const SimulatedLeaf *op = leaf->op;

        return op->computed ? compute(leaf) : op->value;
}

/* A variable that a real leaf would set is missing unless the scenario sets it. So this is only a warning here, but btd
 * would fail. */
static void simulated_unresolved(Leaf *leaf, const char *error) {
        const SimulationContext *context = context_of(leaf);
        g_autofree char *warning = g_strdup_printf("would fail: %s", error);

        context->remarked(leaf->node, "warning", warning, context->userdata);
}

static const LeafKind simulated_kind = {
        .op_size = sizeof(SimulatedLeaf),
        .start = simulated_start,
        .halt = simulated_halt,
        .release = simulated_release,
        .evaluate = simulated_evaluate,
        .unresolved = simulated_unresolved,
};

const LeafKind *simulated_kind_of(const NodeType *type) {
        return &simulated_kind;
}
