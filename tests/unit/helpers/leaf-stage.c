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
#include "leaves/path/path-watch.h"
#include "leaves/spawn/fd-watch.h"
#include "script/script-status.h"

/* Only a hang takes so long; meson allows a test 120 s. */
#define WAIT_USEC (100 * G_USEC_PER_SEC)

struct LeafStage {
        LeafServices services;
        Blackboard *blackboard;
        uint32_t attempt;
        bool durable;
};

typedef struct TestLeafData {
        Definition *definition;
        Params params;
        char *op;
        bool released;
} TestLeafData;

/* The Leaf is the first member of its TestLeaf. */
static TestLeaf *test_leaf_of(const Leaf *leaf) {
        return (TestLeaf *) (void *) leaf;
}

void leaf_end(Leaf *leaf, Status status) {
        TestLeaf *staged = test_leaf_of(leaf);

        g_assert_true(status == STATUS_SUCCESS || status == STATUS_FAILURE || status == STATUS_SKIPPED ||
                      status == STATUS_ERROR);
        g_assert_cmpint(staged->status, ==, STATUS_RUNNING);
        staged->status = status;
        staged->halted = true;
        staged->n_reports++;

        /* As the runtime may do. */
        if (leaf->kind->release)
                leaf->kind->release(leaf);
        ((TestLeafData *) staged->data)->released = true;
}

void leaf_set_value(Leaf *leaf, Status value) {
        TestLeaf *staged = test_leaf_of(leaf);

        g_assert_true(value == STATUS_SUCCESS || value == STATUS_FAILURE || value == STATUS_RUNNING ||
                      value == STATUS_ERROR);
        staged->status = value;
        staged->n_reports++;
}

void leaf_value_changed(Leaf *leaf) {
        TestLeaf *staged = test_leaf_of(leaf);

        staged->n_reports++;
}

void leaf_give_cause(Leaf *leaf, Cause *cause) {
        TestLeaf *staged = test_leaf_of(leaf);

        cause_unref(staged->reason);
        staged->reason = cause;
        staged->cause = cause->text;
}

char *leaf_hide_secrets(Leaf *leaf, const char *text) {
        return NULL;
}

json_object *leaf_hide_value(Leaf *leaf, json_object *value) {
        return json_object_get(value);
}

size_t leaf_secret_length(Leaf *leaf) {
        return 0;
}

void leaf_set_output(Leaf *leaf, const char *key, json_object *value) {
        TestLeaf *staged = test_leaf_of(leaf);

        json_object_object_add(staged->outputs, key, value);
}

User *leaf_user(const Leaf *leaf) {
        return NULL;
}

bool leaf_is_awaited_by(const Leaf *leaf, const char *unit, bool stop) {
        return false;
}

void leaf_set_memo(Leaf *leaf, json_object *memo) {
        TestLeaf *staged = test_leaf_of(leaf);

        leaf->has_memo = true;
        json_object_put(staged->memo);
        staged->memo = memo;
}

Status leaf_run(Leaf *leaf, const Script *code) {
        Cause *cause = NULL;
        Status status = script_status_of_code(code, leaf->blackboard, &cause);

        if (cause)
                leaf_give_cause(leaf, cause);
        return status;
}

void leaf_say(Leaf *leaf, int level, const char *text) {
        const LogSubject subject = leaf_log_subject(leaf);

        log_message(level, &subject, "%s", text);
}

/* The leaves of the stage have no listener. */
void leaf_hear(Leaf *leaf, json_object *signal) {
        g_assert_not_reached();
}

json_object *leaf_take_signal(Leaf *leaf) {
        g_assert_not_reached();
}

bool leaf_own_connection(const Leaf *leaf, const char *bus, Connection **ret_connection) {
        return false;
}

unsigned leaf_queue_length(const Leaf *leaf) {
        g_assert_not_reached();
}

void leaf_lost(Leaf *leaf) {
        TestLeaf *staged = test_leaf_of(leaf);

        staged->lost = true;
        staged->status = STATUS_IDLE;
        staged->n_reports++;
}

/* No time limit counts on this stage. */
void leaf_read(Leaf *leaf, uint64_t ended) {}

LeafStage *leaf_stage_new(const char *address) {
        LeafStage *stage = g_new0(LeafStage, 1);

        stage->services.timers = timers_new(NULL);
        stage->services.workers = workers_new(NULL, UINT_MAX);
        stage->services.fd_watches = fd_watches_new(NULL);
        stage->services.path_watches = path_watches_new(NULL);
        stage->services.buses = buses_new(NULL, "test", address ?: "unix:path=/nowhere");
        stage->blackboard = blackboard_new(&limits_default);
        stage->attempt = 1;
        return stage;
}

void leaf_stage_free(LeafStage *stage) {
        if (!stage)
                return;

        blackboard_free(stage->blackboard);
        buses_free(stage->services.buses);
        workers_free(stage->services.workers);
        path_watches_free(stage->services.path_watches);
        fd_watches_free(stage->services.fd_watches);
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

static TestLeaf *make_test_leaf(LeafStage *stage, const NodeType *const *types, const char *node) {
        TestLeaf *staged = g_new0(TestLeaf, 1);
        TestLeafData *data = g_new0(TestLeafData, 1);
        g_autofree char *error = NULL;
        const NodeType *type;
        bool filled;

        /* The files of tests are in /tmp, about which there is a warning. */
        data->definition = load(stage->blackboard, types, node, &error);
        if (!data->definition)
                g_assert_cmpstr(error, ==, NULL);
        g_clear_pointer(&error, g_free);
        filled = definition_params(data->definition, 0, stage->blackboard, &data->params, &error) >= 0;

        type = definition_tree(data->definition)->nodes[0].type;
        staged->data = data;
        staged->outputs = json_object_new_object();
        staged->leaf = (Leaf){
                .type = type,
                .kind = leaf_kind_of(type),
                .params = data->params.values,
                .services = &stage->services,
                .blackboard = stage->blackboard,
                .tree = "test",
                .run = "test.1",
                .name = "Node",
                .attempt = stage->attempt,
                .started = (uint64_t) g_get_monotonic_time(),
                .durable = stage->durable,
        };
        data->op = g_malloc0(staged->leaf.kind->op_size);
        staged->leaf.op = data->op;

        staged->status = STATUS_RUNNING;
        if (!filled) {
                leaf_set_cause_of(&staged->leaf, CAUSE_PARAMETER, NULL, "%s", error);
                staged->status = STATUS_FAILURE;
                data->released = true;
        }
        return staged;
}

TestLeaf *leaf_stage_start(LeafStage *stage, const NodeType *const *types, const char *node) {
        TestLeaf *staged = make_test_leaf(stage, types, node);

        if (staged->status == STATUS_RUNNING)
                staged->status = staged->leaf.kind->start(&staged->leaf);
        return staged;
}

TestLeaf *leaf_stage_recover(LeafStage *stage, const NodeType *const *types, const char *node, json_object *memo) {
        TestLeaf *staged = make_test_leaf(stage, types, node);

        staged->leaf.has_memo = true;
        staged->leaf.memo = memo;
        staged->status = staged->leaf.kind->recover(&staged->leaf);
        staged->leaf.memo = NULL;
        json_object_put(memo);
        return staged;
}

void test_leaf_abandon(TestLeaf *staged) {
        staged->leaf.abandoned = true;
        test_leaf_free(staged);
}

void test_leaf_free(TestLeaf *staged) {
        TestLeafData *data;

        if (!staged)
                return;

        data = staged->data;
        if (!data->released && staged->leaf.kind->release)
                staged->leaf.kind->release(&staged->leaf);

        params_clear(&data->params);
        definition_unref(data->definition);
        g_free(data->op);
        g_free(data);
        json_object_put(staged->outputs);
        json_object_put(staged->memo);
        cause_unref(staged->reason);
        g_free(staged);
}

static void turn(int64_t end) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_main_context_iteration(NULL, true);
}

static gboolean on_wake(void *userdata) {
        return G_SOURCE_CONTINUE;
}

Status test_leaf_wait_reports(TestLeaf *staged, unsigned n_reports) {
        unsigned wake = g_timeout_add(1000, on_wake, NULL);
        int64_t end = g_get_monotonic_time() + WAIT_USEC;

        while (staged->n_reports < n_reports)
                turn(end);

        g_source_remove(wake);
        return staged->status;
}

void test_leaf_expect(TestLeaf *staged, unsigned n_reports, Status status, const char *cause) {
        test_leaf_wait_reports(staged, n_reports);
        g_assert_cmpuint(staged->n_reports, ==, n_reports);
        g_assert_cmpint(staged->status, ==, status);
        if (cause)
                g_assert_cmpstr(staged->cause, ==, cause);
}

Status test_leaf_wait(TestLeaf *staged) {
        if (staged->status != STATUS_RUNNING)
                return staged->status;

        return test_leaf_wait_reports(staged, staged->n_reports + 1);
}

Status test_leaf_evaluate(TestLeaf *staged) {
        staged->status = staged->leaf.kind->evaluate(&staged->leaf);
        return staged->status;
}

void test_leaf_halt(TestLeaf *staged) {
        const LeafKind *kind = staged->leaf.kind;

        staged->halted = !kind->halt || kind->halt(&staged->leaf);
        if (!staged->halted)
                test_leaf_wait(staged);
}

char *test_leaf_remark(const TestLeaf *staged) {
        return staged->leaf.kind->remark(&staged->leaf);
}

char *test_leaf_describe(TestLeaf *staged) {
        const LeafKind *kind = staged->leaf.kind;
        char *obstacle = kind->obstacle ? kind->obstacle(&staged->leaf) : NULL;
        GString *text;

        if (obstacle)
                return obstacle;

        text = g_string_new(NULL);
        kind->describe(&staged->leaf, text);
        return g_string_free(text, false);
}

const char *test_leaf_output(const TestLeaf *staged, const char *key) {
        return json_object_get_string(json_object_object_get(staged->outputs, key));
}
