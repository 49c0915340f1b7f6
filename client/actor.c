/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What types say of themselves is read from their tables, so that no type is known here by its name. */

#include <json-c/linkhash.h>

#include "actor.h"
#include "computation.h"
#include "definition/reasons.h"
#include "leaves/leaf.h"

struct Actor {
        const ActorContext *context;
        const NodeType *type;
        const Outcome *outcome;
        NodeId node;
        Params params;
        Computation *computation; /* NULL: none, or the scenario knows better */
        AgendaEntry *next;        /* its end, or the next change of a condition */
        AgendaEntry *timeout;     /* the limit that it has set itself */
        uint64_t known_at;        /* of a condition: when its value is first known */
        Status status;
        bool timed_out;
        bool halted;
        Cause *cause;
};

/* The parameter of that name and kind, or NULL. */
static const void *find_param(const Actor *actor, const char *name, ParamKind kind) {
        for (const Param *param = actor->type->params; param && param->name; param++)
                if (param->kind == kind && g_str_equal(param->name, name))
                        return (const char *) actor->params.values + param->offset;

        return NULL;
}

static Blackboard *scope_of(const Actor *actor) {
        return variables_scope(progress_variables(actor->context->progress), actor->node);
}

static Status result_of(const Actor *actor) {
        if (actor->outcome->result != STATUS_IDLE)
                return actor->outcome->result;

        return actor->type->flags & TYPE_NEVER_SUCCEEDS ? STATUS_FAILURE : STATUS_SUCCESS;
}

/* What has a duration takes it. */
static uint64_t time_of(const Actor *actor) {
        const uint64_t *duration = find_param(actor, "duration", PARAM_SPAN);

        return actor->outcome->timed || !duration ? actor->outcome->after : *duration;
}

static uint64_t timeout_of(const Actor *actor) {
        const LeafKind *kind = actor->type->leaf;

        if (!kind->has_timeout)
                return SPAN_INFINITY;

        return *(const uint64_t *) (const void *) ((const char *) actor->params.values + kind->timeout_offset);
}

/* Takes the cause. */
static void set_cause(Actor *actor, Cause *cause) {
        cause_unref(actor->cause);
        actor->cause = cause;
}

/* NULL: the scenario says none. */
static Cause *make_cause(const char *kind, const char *text) {
        return kind || text ? cause_of_pattern(kind, text) : NULL;
}

static void compute(Actor *actor) {
        actor->status = computation_result(actor->computation);
        set_cause(actor, computation_cause(actor->computation));
}

static void give_outputs(const Actor *actor) {
        const ActorContext *context = actor->context;

        if (!actor->outcome->outputs)
                return;

        json_object_object_foreach(actor->outcome->outputs, key, value) progress_set_output(
                context->progress, actor->node, key, json_object_get(value), agenda_now(context->agenda));
}

static void perform(Actor *actor) {
        actor->status = result_of(actor);
        if (actor->status != STATUS_SUCCESS)
                set_cause(actor, make_cause(actor->outcome->cause_kind, actor->outcome->cause));
        give_outputs(actor);
}

static void on_end(NodeId node, void *userdata) {
        Actor *actor = userdata;

        actor->next = NULL;
        agenda_drop(g_steal_pointer(&actor->timeout));
        if (actor->timed_out)
                actor->status = STATUS_FAILURE;
        else if (actor->halted)
                actor->status = STATUS_SKIPPED;
        else
                perform(actor);

        actor->context->ended(actor, actor->context->userdata);
}

static void end_after(Actor *actor, uint64_t delay) {
        agenda_drop(actor->next);
        actor->next = agenda_add(actor->context->agenda, delay, on_end, actor->node, actor);
}

static void on_timeout(NodeId node, void *userdata) {
        Actor *actor = userdata;

        actor->timeout = NULL;
        actor->timed_out = true;
        set_cause(actor, reason_of_timeout(definition_tree(progress_definition(actor->context->progress)), node,
                                           actor->type->leaf->timeout_offset, timeout_of(actor)));
        if (actor->outcome->halt > 0) {
                end_after(actor, actor->outcome->halt);
                return;
        }

        agenda_drop(g_steal_pointer(&actor->next));
        on_end(node, actor);
}

static void start_action(Actor *actor) {
        const ActorContext *context = actor->context;
        const char *const *message = find_param(actor, "message", PARAM_STRING);
        uint64_t time = time_of(actor), timeout = timeout_of(actor);

        if (message && *message)
                context->remarked(actor->node, "log", *message, context->userdata);

        if (time == 0 || actor->type->flags & TYPE_IMMEDIATE) {
                perform(actor);
                return;
        }

        actor->status = STATUS_RUNNING;
        end_after(actor, time);
        actor->timeout = agenda_add(context->agenda, timeout, on_timeout, actor->node, actor);
}

/* The value that the condition has by now; answers when that may change. */
static uint64_t look(Actor *actor) {
        const Outcome *outcome = actor->outcome;
        uint64_t now = agenda_now(actor->context->agenda);
        const char *kind = outcome->cause_kind, *cause = outcome->cause;
        Status value = result_of(actor);
        uint32_t i;

        if (now < actor->known_at) {
                actor->status = STATUS_RUNNING;
                return actor->known_at;
        }

        for (i = 0; i < outcome->n_changes && outcome->changes[i].at <= now; i++) {
                value = outcome->changes[i].result;
                kind = outcome->changes[i].cause_kind;
                cause = outcome->changes[i].cause;
        }

        actor->status = value;
        set_cause(actor, value == STATUS_FAILURE ? make_cause(kind, cause) : NULL);
        return i < outcome->n_changes ? outcome->changes[i].at : SPAN_INFINITY;
}

static void on_change(NodeId node, void *userdata);

static void watch(Actor *actor) {
        uint64_t next = look(actor);

        if (next != SPAN_INFINITY)
                actor->next = agenda_add(actor->context->agenda, next - agenda_now(actor->context->agenda), on_change,
                                         actor->node, actor);
}

static void on_change(NodeId node, void *userdata) {
        Actor *actor = userdata;
        Status before = actor->status;

        actor->next = NULL;
        watch(actor);
        if (actor->status != before)
                actor->context->changed(actor, actor->context->userdata);
}

static void on_variables_changed(void *userdata) {
        Actor *actor = userdata;

        actor->context->changed(actor, actor->context->userdata);
}

/* Does the scenario know better what comes of it? */
static bool is_given(const Outcome *outcome) {
        return outcome->result != STATUS_IDLE || outcome->outputs || outcome->n_changes > 0;
}

static void start_condition(Actor *actor) {
        uint64_t now = agenda_now(actor->context->agenda), after = actor->outcome->after;

        actor->known_at = after < SPAN_INFINITY - now ? now + after : SPAN_INFINITY;
        watch(actor);
}

/* A variable that a real leaf would have set is not there unless the scenario has it. So that is no failure here, but
 * it would be one there. */
static void fill_in_params(Actor *actor) {
        const ActorContext *context = actor->context;
        const Definition *definition = progress_definition(context->progress);
        g_autofree char *error = NULL, *warning = NULL;

        if (definition_params(definition, actor->node, scope_of(actor), &actor->params, &error) >= 0)
                return;

        actor->params = (Params){ .values = definition_tree(definition)->nodes[actor->node].params };
        warning = g_strdup_printf("would fail: %s", error);
        context->remarked(actor->node, "warning", warning, context->userdata);
}

Actor *actor_start(const ActorContext *context, NodeId node, uint32_t n) {
        const Tree *tree = definition_tree(progress_definition(context->progress));
        Actor *actor = g_new(Actor, 1);

        *actor = (Actor){
                .context = context,
                .type = tree->nodes[node].type,
                .outcome = scenario_outcome(context->scenario, tree, node, n),
                .node = node,
        };
        fill_in_params(actor);
        if (!is_given(actor->outcome))
                actor->computation = computation_new(actor->type, actor->params.values, scope_of(actor),
                                                     on_variables_changed, actor);

        if (actor->computation)
                compute(actor);
        else if (actor->type->class == NODE_CONDITION)
                start_condition(actor);
        else
                start_action(actor);

        return actor;
}

bool actor_halt(Actor *actor) {
        actor->halted = true;
        agenda_drop(g_steal_pointer(&actor->timeout));

        /* Its own limit has already stopped it. */
        if (actor->timed_out)
                return false;

        if (actor->outcome->halt > 0) {
                end_after(actor, actor->outcome->halt);
                return false;
        }

        agenda_drop(g_steal_pointer(&actor->next));
        actor->status = STATUS_HALTED;
        return true;
}

void actor_free(Actor *actor) {
        if (!actor)
                return;

        agenda_drop(actor->next);
        agenda_drop(actor->timeout);
        computation_free(actor->computation);
        params_clear(&actor->params);
        cause_unref(actor->cause);
        g_free(actor);
}

NodeId actor_node(const Actor *actor) {
        return actor->node;
}

Status actor_status(const Actor *actor) {
        return actor->status;
}

Status actor_look(Actor *actor) {
        if (actor->computation)
                compute(actor);

        return actor->status;
}

bool actor_is_ending(const Actor *actor) {
        return actor->halted && actor->status == STATUS_RUNNING;
}

Cause *actor_cause(const Actor *actor) {
        return actor->cause;
}
