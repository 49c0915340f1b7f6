/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Simulates one leaf from its start to its end, for simulation.c. The tables of the types say what a leaf does, so that
 * no type is known here by its name. */

#include <json-c/linkhash.h>

#include "basic/cause.h"
#include "client/simulate/simulated-leaf.h"
#include "engine/type.h"
#include "run/leaf.h"
#include "run/reasons.h"
#include "script/blackboard.h"
#include "script/script-status.h"

struct SimulatedLeaf {
        const SimulationContext *context;
        const NodeType *type;
        const Outcome *outcome;
        NodeId node;
        Params params;
        const Param *computed;  /* its script, which gives its result; NULL: none, or the scenario says the result */
        BlackboardWatch *reads; /* the variables that the script reads; NULL: it is code, which runs once */
        bool stale;             /* the script is to be evaluated (again) */
        Status result;          /* ... its last result */
        QueuedEvent *next;      /* its end, or the next change of a condition */
        QueuedEvent *timeout;   /* when its own limit expires */
        uint64_t known_at;      /* of a condition: when its value is first known */
        Status status;
        bool timed_out;
        bool halted;
        bool given_up; /* it ends when its halt_timeout has passed, not by itself */
        Cause *cause;
};

/* The parameter of that name and kind, or NULL. */
static const void *find_param(const SimulatedLeaf *leaf, const char *name, ParamKind kind) {
        for (const Param *param = leaf->type->params; param && param->name; param++)
                if (param->kind == kind && g_str_equal(param->name, name))
                        return (const char *) leaf->params.values + param->offset;

        return NULL;
}

static Blackboard *scope_of(const SimulatedLeaf *leaf) {
        return variables_scope(run_variables(leaf->context->run), leaf->node);
}

static Status result_of(const SimulatedLeaf *leaf) {
        if (leaf->outcome->result != STATUS_IDLE)
                return leaf->outcome->result;

        return leaf->type->flags & TYPE_NEVER_SUCCEEDS ? STATUS_FAILURE : STATUS_SUCCESS;
}

/* A leaf with a duration takes that time. */
static uint64_t time_of(const SimulatedLeaf *leaf) {
        const uint64_t *duration = find_param(leaf, "duration", PARAM_SPAN);

        return leaf->outcome->timed || !duration ? leaf->outcome->after : *duration;
}

static uint64_t timeout_of(const SimulatedLeaf *leaf) {
        if (!leaf->type->has_timeout)
                return SPAN_INFINITY;

        return *(const uint64_t *) (const void *) ((const char *) leaf->params.values + leaf->type->timeout_offset);
}

/* Takes the cause. */
static void set_cause(SimulatedLeaf *leaf, Cause *cause) {
        cause_unref(leaf->cause);
        leaf->cause = cause;
}

/* NULL: the scenario gives none. */
static Cause *make_cause(const char *kind, const char *text) {
        return kind || text ? cause_of_pattern(kind, text) : NULL;
}

/* The script of a type that does nothing but evaluate it, or NULL. An expression over more than the variables ("value")
 * cannot be evaluated here. */
static const Param *find_script(const NodeType *type) {
        for (const Param *param = type->params; param && param->name; param++)
                if ((param->kind == PARAM_CODE || param->kind == PARAM_EXPRESSION) && !param->extra)
                        return param;

        return NULL;
}

static const Script *script_of(const SimulatedLeaf *leaf) {
        return *(const Script *const *) (const void *) ((const char *) leaf->params.values + leaf->computed->offset);
}

static void compute(SimulatedLeaf *leaf) {
        if (leaf->stale) {
                leaf->stale = false;
                set_cause(leaf, NULL);
                leaf->result =
                        leaf->computed->kind == PARAM_CODE
                                ? script_status_of_code(script_of(leaf), scope_of(leaf), &leaf->cause)
                                : script_status_of_test(script_of(leaf), scope_of(leaf), NULL, NULL, &leaf->cause);
        }

        leaf->status = leaf->result;
}

static void give_outputs(const SimulatedLeaf *leaf) {
        const SimulationContext *context = leaf->context;

        if (!leaf->outcome->outputs)
                return;

        json_object_object_foreach(leaf->outcome->outputs, key, value)
                input_output(context->run, leaf->node, key, json_object_get(value), event_queue_now(context->queue));
}

static void perform(SimulatedLeaf *leaf) {
        leaf->status = result_of(leaf);
        if (leaf->status != STATUS_SUCCESS)
                set_cause(leaf, make_cause(leaf->outcome->cause_kind, leaf->outcome->cause));
        give_outputs(leaf);
}

/* Makes the same cause as btd. */
static void give_up(SimulatedLeaf *leaf) {
        const SimulationContext *context = leaf->context;

        set_cause(leaf, reason_of_halt_timeout(run_definition(context->run), leaf->node,
                                               leaf->timed_out ? leaf->cause : NULL));
        context->remarked(leaf->node, "warning", leaf->cause->text, context->userdata);
}

static void on_end(NodeId node, void *userdata) {
        SimulatedLeaf *leaf = userdata;

        leaf->next = NULL;
        event_queue_drop(g_steal_pointer(&leaf->timeout));
        if (leaf->given_up)
                give_up(leaf);
        if (leaf->timed_out)
                leaf->status = STATUS_FAILURE;
        else if (leaf->halted)
                leaf->status = STATUS_SKIPPED;
        else
                perform(leaf);

        leaf->context->ended(leaf, leaf->context->userdata);
}

static void end_after(SimulatedLeaf *leaf, uint64_t delay) {
        event_queue_drop(leaf->next);
        leaf->next = event_queue_add(leaf->context->queue, delay, on_end, leaf->node, leaf);
}

/* Stopping takes time, but not more than its halt_timeout. */
static void end_halted(SimulatedLeaf *leaf) {
        uint64_t limit = definition_halt_timeout(run_definition(leaf->context->run), leaf->node);

        leaf->given_up = leaf->outcome->halt > limit;
        end_after(leaf, MIN(leaf->outcome->halt, limit));
}

static void on_timeout(NodeId node, void *userdata) {
        SimulatedLeaf *leaf = userdata;

        leaf->timeout = NULL;
        leaf->timed_out = true;
        set_cause(leaf, reason_of_timeout(definition_tree(run_definition(leaf->context->run)), node,
                                          leaf->type->timeout_offset, timeout_of(leaf)));
        if (leaf->outcome->halt > 0) {
                end_halted(leaf);
                return;
        }

        event_queue_drop(g_steal_pointer(&leaf->next));
        on_end(node, leaf);
}

static void start_action(SimulatedLeaf *leaf) {
        const SimulationContext *context = leaf->context;
        const char *const *message = find_param(leaf, "message", PARAM_STRING);
        uint64_t time = time_of(leaf), timeout = timeout_of(leaf);

        if (message && *message)
                context->remarked(leaf->node, "log", *message, context->userdata);

        if (time == 0 || leaf->type->flags & TYPE_IMMEDIATE) {
                perform(leaf);
                return;
        }

        leaf->status = STATUS_RUNNING;
        end_after(leaf, time);
        leaf->timeout = event_queue_add(context->queue, timeout, on_timeout, leaf->node, leaf);
}

/* Sets the current value of the condition; returns the time of its next change. */
static uint64_t evaluate_condition(SimulatedLeaf *leaf) {
        const Outcome *outcome = leaf->outcome;
        uint64_t now = event_queue_now(leaf->context->queue);
        const char *kind = outcome->cause_kind, *cause = outcome->cause;
        Status value = result_of(leaf);
        uint32_t i;

        if (now < leaf->known_at) {
                leaf->status = STATUS_RUNNING;
                return leaf->known_at;
        }

        for (i = 0; i < outcome->n_changes && outcome->changes[i].at <= now; i++) {
                value = outcome->changes[i].result;
                kind = outcome->changes[i].cause_kind;
                cause = outcome->changes[i].cause;
        }

        leaf->status = value;
        set_cause(leaf, value == STATUS_FAILURE ? make_cause(kind, cause) : NULL);
        return i < outcome->n_changes ? outcome->changes[i].at : SPAN_INFINITY;
}

static void on_change(NodeId node, void *userdata);

static void schedule_next_change(SimulatedLeaf *leaf) {
        uint64_t next = evaluate_condition(leaf);

        if (next != SPAN_INFINITY)
                leaf->next = event_queue_add(leaf->context->queue, next - event_queue_now(leaf->context->queue),
                                             on_change, leaf->node, leaf);
}

static void on_change(NodeId node, void *userdata) {
        SimulatedLeaf *leaf = userdata;
        Status before = leaf->status;

        leaf->next = NULL;
        schedule_next_change(leaf);
        if (leaf->status != before)
                leaf->context->changed(leaf, leaf->context->userdata);
}

static void on_variables_changed(void *userdata) {
        SimulatedLeaf *leaf = userdata;

        if (leaf->stale)
                return;

        leaf->stale = true;
        leaf->context->changed(leaf, leaf->context->userdata);
}

static void start_computed(SimulatedLeaf *leaf) {
        leaf->stale = true;
        if (leaf->computed->kind == PARAM_EXPRESSION)
                leaf->reads =
                        blackboard_watch(scope_of(leaf), script_reads(script_of(leaf)), on_variables_changed, leaf);
        compute(leaf);
}

/* Whether the scenario gives the result. */
static bool is_given(const Outcome *outcome) {
        return outcome->result != STATUS_IDLE || outcome->outputs || outcome->n_changes > 0;
}

static void start_condition(SimulatedLeaf *leaf) {
        uint64_t now = event_queue_now(leaf->context->queue), after = leaf->outcome->after;

        leaf->known_at = after < SPAN_INFINITY - now ? now + after : SPAN_INFINITY;
        schedule_next_change(leaf);
}

/* A variable that a real leaf would set is missing unless the scenario sets it. So this is only a warning here, but btd
 * would fail. */
static void fill_in_params(SimulatedLeaf *leaf) {
        const SimulationContext *context = leaf->context;
        const Definition *definition = run_definition(context->run);
        g_autofree char *error = NULL, *warning = NULL;

        if (definition_params(definition, leaf->node, scope_of(leaf), &leaf->params, &error) >= 0)
                return;

        leaf->params = (Params){ .values = definition_tree(definition)->nodes[leaf->node].params };
        warning = g_strdup_printf("would fail: %s", error);
        context->remarked(leaf->node, "warning", warning, context->userdata);
}

SimulatedLeaf *simulated_leaf_start(const SimulationContext *context, NodeId node, uint32_t n) {
        const Tree *tree = definition_tree(run_definition(context->run));
        SimulatedLeaf *leaf = g_new(SimulatedLeaf, 1);

        *leaf = (SimulatedLeaf){
                .context = context,
                .type = tree->nodes[node].type,
                .outcome = scenario_outcome(context->scenario, tree, node, n),
                .node = node,
        };
        fill_in_params(leaf);
        if (!is_given(leaf->outcome))
                leaf->computed = find_script(leaf->type);

        if (leaf->computed)
                start_computed(leaf);
        else if (leaf->type->class == NODE_CONDITION)
                start_condition(leaf);
        else
                start_action(leaf);

        return leaf;
}

bool simulated_leaf_halt(SimulatedLeaf *leaf) {
        leaf->halted = true;
        event_queue_drop(g_steal_pointer(&leaf->timeout));

        /* Its own limit has already stopped it. */
        if (leaf->timed_out)
                return false;

        if (leaf->outcome->halt > 0) {
                end_halted(leaf);
                return false;
        }

        event_queue_drop(g_steal_pointer(&leaf->next));
        leaf->status = STATUS_HALTED;
        return true;
}

void simulated_leaf_free(SimulatedLeaf *leaf) {
        if (!leaf)
                return;

        event_queue_drop(leaf->next);
        event_queue_drop(leaf->timeout);
        blackboard_watch_free(leaf->reads);
        params_clear(&leaf->params);
        cause_unref(leaf->cause);
        g_free(leaf);
}

NodeId simulated_leaf_node(const SimulatedLeaf *leaf) {
        return leaf->node;
}

Status simulated_leaf_status(const SimulatedLeaf *leaf) {
        return leaf->status;
}

Status simulated_leaf_evaluate(SimulatedLeaf *leaf) {
        if (leaf->computed)
                compute(leaf);

        return leaf->status;
}

bool simulated_leaf_is_ending(const SimulatedLeaf *leaf) {
        return leaf->halted && leaf->status == STATUS_RUNNING;
}

Cause *simulated_leaf_cause(const SimulatedLeaf *leaf) {
        return leaf->cause;
}
