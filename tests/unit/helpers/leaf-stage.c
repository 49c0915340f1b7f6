/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>
#include <limits.h>

#include "basic/cleanup.h"
#include "basic/timers.h"
#include "bus/buses.h"
#include "definition/definition.h"
#include "inputs.h"
#include "leaf-stage.h"
#include "leaves/kinds.h"

#define WAIT_USEC (20 * G_USEC_PER_SEC)

struct LeafStage {
        LeafServices services;
        Blackboard *blackboard;
        uint32_t attempt;
        bool durable;
};

typedef struct ActorData {
        Definition *definition;
        Params params;
        char *op;
        bool released;
} ActorData;

void leaf_end(Leaf *leaf, Status status) {
        Actor *actor = leaf->owner;

        g_assert_true(status == STATUS_SUCCESS || status == STATUS_FAILURE || status == STATUS_SKIPPED ||
                      status == STATUS_ERROR);
        g_assert_cmpint(actor->status, ==, STATUS_RUNNING);
        actor->status = status;
        actor->halted = true;
        actor->n_reports++;

        /* As the runtime may do. */
        if (leaf->kind->release)
                leaf->kind->release(leaf);
        ((ActorData *) actor->data)->released = true;
}

void leaf_set_value(Leaf *leaf, Status value) {
        Actor *actor = leaf->owner;

        g_assert_true(value == STATUS_SUCCESS || value == STATUS_FAILURE || value == STATUS_RUNNING ||
                      value == STATUS_ERROR);
        actor->status = value;
        actor->n_reports++;
}

void leaf_value_changed(Leaf *leaf) {
        Actor *actor = leaf->owner;

        actor->n_reports++;
}

void leaf_give_cause(Leaf *leaf, Cause *cause) {
        Actor *actor = leaf->owner;

        cause_unref(actor->reason);
        actor->reason = cause;
        actor->cause = cause->text;
}

char *leaf_hide_secrets(Leaf *leaf, const char *text) {
        return NULL;
}

void leaf_set_output(Leaf *leaf, const char *key, json_object *value) {
        Actor *actor = leaf->owner;

        json_object_object_add(actor->outputs, key, value);
}

bool leaf_is_awaited_by(const Leaf *leaf, const char *unit, bool stop) {
        return false;
}

void leaf_set_memo(Leaf *leaf, json_object *memory) {
        Actor *actor = leaf->owner;

        leaf->has_memo = true;
        json_object_put(actor->memory);
        actor->memory = memory;
}

void leaf_lost(Leaf *leaf) {
        Actor *actor = leaf->owner;

        actor->lost = true;
        actor->status = STATUS_IDLE;
        actor->n_reports++;
}

LeafStage *leaf_stage_new(const char *address) {
        LeafStage *stage = g_new0(LeafStage, 1);

        stage->services.timers = timers_new(NULL);
        stage->services.workers = workers_new(NULL, UINT_MAX);
        stage->services.buses = buses_new(NULL, "test", address ?: "unix:path=/nowhere");
        stage->blackboard = blackboard_new();
        stage->attempt = 1;
        return stage;
}

void leaf_stage_free(LeafStage *stage) {
        if (!stage)
                return;

        blackboard_free(stage->blackboard);
        buses_free(stage->services.buses);
        workers_free(stage->services.workers);
        timers_free(stage->services.timers);
        g_free(stage);
}

void leaf_stage_set_variable(LeafStage *stage, const char *key, const char *value) {
        blackboard_set(stage->blackboard, key, json_object_new_string(value));
}

void leaf_stage_set_number(LeafStage *stage, const char *key, int64_t value) {
        blackboard_set(stage->blackboard, key, json_object_new_int64(value));
}

void leaf_stage_set_attempt(LeafStage *stage, uint32_t attempt) {
        stage->attempt = attempt;
}

/* What the node refers to, and what there is on the stage besides (NULL: nothing), for its expressions. */
static char *declare_inputs(const Blackboard *blackboard, const char *node) {
        g_autofree char *referred = inputs_of(node);
        g_autoptr(json_object) inputs = json_tokener_parse(referred),
                               variables = blackboard ? blackboard_to_json(blackboard) : json_object_new_object();

        json_object_object_foreach(variables, name, value)
                json_object_object_add(inputs, name, json_object_new_string("any"));

        return g_strdup(json_object_to_json_string(inputs));
}

/* The complaint is an error, then there is no definition, or a warning. */
static Definition *load(const Blackboard *blackboard, const NodeType *const *types, const char *node,
                        char **ret_complaint) {
        g_autofree char *inputs = declare_inputs(blackboard, node);
        g_autofree char *text = g_strdup_printf("{ \"btd\": 1, \"inputs\": %s, \"root\": %s }", inputs, node);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("test");
        const NodeType *const *const tables[] = { types, NULL };
        Definition *definition = NULL;

        (void) definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition);
        if (diagnostics_count(diagnostics) > 0)
                *ret_complaint = g_strdup(diagnostics_get(diagnostics, 0)->text);

        return definition;
}

char *leaf_stage_check(const NodeType *const *types, const char *node) {
        char *error = NULL;

        definition_unref(load(NULL, types, node, &error));
        return error;
}

char *leaf_stage_title(const NodeType *const *types, const char *node) {
        g_autofree char *error = NULL;
        g_autoptr(Definition) definition = load(NULL, types, node, &error);

        g_assert_cmpstr(error, ==, NULL);
        return definition_title(definition, 0);
}

void leaf_stage_set_durable(LeafStage *stage, const char *outputs) {
        stage->durable = true;
        stage->services.outputs = outputs;
}

void leaf_stage_set_inheritance(LeafStage *stage, Inheritance *inheritance) {
        stage->services.inheritance = inheritance;
}

static Actor *make_actor(LeafStage *stage, const NodeType *const *types, const char *node) {
        Actor *actor = g_new0(Actor, 1);
        ActorData *data = g_new0(ActorData, 1);
        g_autofree char *error = NULL;
        const NodeType *type;
        bool filled;

        data->definition = load(stage->blackboard, types, node, &error);
        g_assert_cmpstr(error, ==, NULL);
        filled = definition_params(data->definition, 0, stage->blackboard, &data->params, &error) >= 0;

        type = definition_tree(data->definition)->nodes[0].type;
        actor->data = data;
        actor->outputs = json_object_new_object();
        actor->leaf = (Leaf){
                .type = type,
                .kind = leaf_kind_of(type),
                .params = data->params.values,
                .services = &stage->services,
                .blackboard = stage->blackboard,
                .tree = "test",
                .run = "test.1",
                .name = "Actor",
                .attempt = stage->attempt,
                .started = (uint64_t) g_get_monotonic_time(),
                .durable = stage->durable,
                .owner = actor,
        };
        data->op = g_malloc0(actor->leaf.kind->op_size);
        actor->leaf.op = data->op;

        actor->status = STATUS_RUNNING;
        if (!filled) {
                leaf_set_cause_of(&actor->leaf, CAUSE_PARAMETER, NULL, "%s", error);
                actor->status = STATUS_FAILURE;
                data->released = true;
        }
        return actor;
}

Actor *leaf_stage_start(LeafStage *stage, const NodeType *const *types, const char *node) {
        Actor *actor = make_actor(stage, types, node);

        if (actor->status == STATUS_RUNNING)
                actor->status = actor->leaf.kind->start(&actor->leaf);
        return actor;
}

Actor *leaf_stage_recover(LeafStage *stage, const NodeType *const *types, const char *node, json_object *memory) {
        Actor *actor = make_actor(stage, types, node);

        actor->leaf.has_memo = true;
        actor->leaf.memo = memory;
        actor->status = actor->leaf.kind->recover(&actor->leaf);
        actor->leaf.memo = NULL;
        json_object_put(memory);
        return actor;
}

void actor_abandon(Actor *actor) {
        actor->leaf.abandoned = true;
        actor_free(actor);
}

void actor_free(Actor *actor) {
        ActorData *data;

        if (!actor)
                return;

        data = actor->data;
        if (!data->released && actor->leaf.kind->release)
                actor->leaf.kind->release(&actor->leaf);

        params_clear(&data->params);
        definition_unref(data->definition);
        g_free(data->op);
        g_free(data);
        json_object_put(actor->outputs);
        json_object_put(actor->memory);
        cause_unref(actor->reason);
        g_free(actor);
}

static void turn(int64_t end) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_main_context_iteration(NULL, true);
}

static gboolean on_wake(void *userdata) {
        return G_SOURCE_CONTINUE;
}

Status actor_wait_reports(Actor *actor, unsigned n_reports) {
        unsigned wake = g_timeout_add(1000, on_wake, NULL);
        int64_t end = g_get_monotonic_time() + WAIT_USEC;

        while (actor->n_reports < n_reports)
                turn(end);

        g_source_remove(wake);
        return actor->status;
}

void actor_expect(Actor *actor, unsigned n_reports, Status status, const char *cause) {
        actor_wait_reports(actor, n_reports);
        g_assert_cmpuint(actor->n_reports, ==, n_reports);
        g_assert_cmpint(actor->status, ==, status);
        if (cause)
                g_assert_cmpstr(actor->cause, ==, cause);
}

Status actor_wait(Actor *actor) {
        if (actor->status != STATUS_RUNNING)
                return actor->status;

        return actor_wait_reports(actor, actor->n_reports + 1);
}

Status actor_look(Actor *actor) {
        actor->status = actor->leaf.kind->evaluate(&actor->leaf);
        return actor->status;
}

void actor_halt(Actor *actor) {
        const LeafKind *kind = actor->leaf.kind;

        actor->halted = !kind->halt || kind->halt(&actor->leaf);
        if (!actor->halted)
                actor_wait(actor);
}

char *actor_describe(Actor *actor) {
        GString *text = g_string_new(NULL);

        actor->leaf.kind->describe(&actor->leaf, text);
        return g_string_free(text, false);
}

const char *actor_output(const Actor *actor, const char *key) {
        return json_object_get_string(json_object_object_get(actor->outputs, key));
}
