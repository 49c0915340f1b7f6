/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the file that says what the leaves do in a simulation, and answers what a leaf does when it is started. */

#include <errno.h>
#include <string.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "basic/span.h"
#include "client/files.h"
#include "client/simulate/scenario.h"
#include "definition/params/arena.h"
#include "definition/params/params.h"
#include "definition/text/text.h"
#include "script/blackboard.h"

/* The outcomes of a leaf, one for each start; the last one is for all further starts. */
typedef struct Role {
        const Outcome *outcomes;
        uint32_t n_outcomes;
} Role;

struct Scenario {
        Arena *arena;        /* owns everything below */
        GHashTable *by_path; /* NodeId -> Role, if the file has the leaf's path */
        GHashTable *by_name; /* ... or its name */
        Outcome fallback;    /* for leaves that the file does not name */
        uint64_t halt;
        const Setting *settings;
        uint32_t n_settings;
};

typedef struct Reader {
        Text text;
        GString *scratch;
        const Tree *tree;
        Diagnostics *diagnostics;
        Scenario *scenario;
        const char *where; /* the leaf that is being read, as the file names it, or NULL */
} Reader;

#define FIELDS_MAX 8

/* An object of a fixed set of members. */
typedef struct Fields {
        const char *owner; /* whose members they are: "a script" */
        const Param *params;
} Fields;

#define ARENA_SIZE 1024u

Scenario *scenario_new(void) {
        Scenario *scenario = g_new(Scenario, 1);

        *scenario = (Scenario){
                .arena = arena_new(ARENA_SIZE),
                .by_path = g_hash_table_new(NULL, NULL),
                .by_name = g_hash_table_new(NULL, NULL),
                .halt = SPAN_INFINITY,
        };
        return scenario;
}

void scenario_free(Scenario *scenario) {
        if (!scenario)
                return;

        g_hash_table_unref(scenario->by_path);
        g_hash_table_unref(scenario->by_name);
        arena_free(scenario->arena);
        g_free(scenario);
}

const Outcome *scenario_outcome(const Scenario *scenario, const Tree *tree, NodeId leaf, uint32_t n) {
        static const Outcome of_type = {};
        const Role *role = g_hash_table_lookup(scenario->by_path, GUINT_TO_POINTER(leaf));

        if (!role)
                role = g_hash_table_lookup(scenario->by_name, GUINT_TO_POINTER(leaf));
        /* The default does not apply to leaves that have only one possible outcome. */
        if (!role && tree->nodes[leaf].type->flags & (TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS | TYPE_IMMEDIATE))
                return &of_type;
        if (!role)
                return &scenario->fallback;

        return &role->outcomes[MIN(n, role->n_outcomes - 1)];
}

uint64_t scenario_halt(const Scenario *scenario) {
        return scenario->halt;
}

const Setting *scenario_settings(const Scenario *scenario, uint32_t *ret_n) {
        *ret_n = scenario->n_settings;
        return scenario->settings;
}

static void reader_error(Reader *reader, uint32_t item, char *text) {
        diagnostics_add(reader->diagnostics, 0, text_offset(&reader->text, item), false, g_strdup(reader->where), text);
}

static char *reader_string(Reader *reader, uint32_t item) {
        size_t length;
        const char *string = text_string(&reader->text, item, reader->scratch, &length);

        return g_strndup(string, length);
}

/* Reports that the value at the item is not what was expected. */
static void reader_unexpected(Reader *reader, uint32_t item, const char *expected) {
        reader_error(reader, item, text_unexpected(&reader->text, item, expected));
}

typedef struct Fault {
        Reader *reader;
        const char *what;
} Fault;

static void on_fault(uint32_t item, char *text, void *userdata) {
        const Fault *fault = userdata;
        g_autofree char *problem = text;

        reader_error(fault->reader, item, g_strdup_printf("%s: %s", fault->what, problem));
}

static int reader_value(Reader *reader, uint32_t item, const char *what, json_object **ret_value) {
        Fault fault = { .reader = reader, .what = what };

        return text_to_json(&reader->text, item, reader->scratch, on_fault, &fault, ret_value);
}

typedef struct Report {
        Reader *reader;
        uint32_t item;
} Report;

static void on_param_report(const ParamFinding *finding, void *userdata) {
        const Report *report = userdata;
        g_autofree char *problem = finding->text, *prefix = place_format(finding->place);

        reader_error(report->reader, report->item, g_strdup_printf("%s: %s", prefix, problem));
}

static void reader_set(Reader *reader, uint32_t item, const Param *param, void *values) {
        Report report = { .reader = reader, .item = item };
        ParamSetter setter = { .arena = reader->scenario->arena, .report = on_param_report, .userdata = &report };
        g_autoptr(json_object) value = NULL;

        if (reader_value(reader, item, param->name, &value) != -EINVAL)
                param_set(&setter, param, values, value);
}

static void report_unknown(Reader *reader, uint32_t key, const char *word, const Fields *fields) {
        g_autofree char *shown = excerpt(word, strlen(word));
        GString *text = g_string_new(NULL);
        Nearest nearest = { .word = word };

        for (const Param *param = fields->params; param->name; param++)
                nearest_offer(&nearest, param->name);

        g_string_append_printf(text, "unknown key '%s'", shown);
        if (nearest.best)
                g_string_append_printf(text, "; did you mean '%s'?", nearest.best);
        g_string_append_printf(text, " (%s takes: ", fields->owner);
        for (const Param *param = fields->params; param->name; param++)
                g_string_append_printf(text, "%s%s", param != fields->params ? ", " : "", param->name);
        g_string_append_c(text, ')');

        reader_error(reader, key, g_string_free(text, false));
}

static void reader_read_fields(Reader *reader, uint32_t item, const Fields *fields, void *values,
                               uint32_t ret_items[static FIELDS_MAX]) {
        uint32_t n = text_item(&reader->text, item)->count, key = item + 1;

        for (uint32_t i = 0; i < n; i++, key = text_next(&reader->text, key + 1)) {
                g_autofree char *word = reader_string(reader, key);
                const Param *param = params_find(fields->params, word, strlen(word));

                if (!param) {
                        report_unknown(reader, key, word, fields);
                        continue;
                }
                if (ret_items[param - fields->params] > 0) {
                        reader_error(reader, key, g_strdup_printf("'%s' is given twice", word));
                        continue;
                }

                ret_items[param - fields->params] = key + 1;
                if (param->kind != PARAM_JSON)
                        reader_set(reader, key + 1, param, values);
        }

        for (const Param *param = fields->params; param->name; param++)
                if (param->required && ret_items[param - fields->params] == 0)
                        reader_error(reader, item, g_strdup_printf("'%s' is missing: %s", param->name, param->doc));
}

/* An object of the file. */
typedef struct Given {
        int result;
        uint64_t after, halt;
        const char *cause, *cause_kind;
} Given;

G_STATIC_ASSERT(STATUS_FAILURE == STATUS_SUCCESS + 1 && STATUS_SKIPPED == STATUS_SUCCESS + 2);

static const char *const action_results[] = { "success", "failure", "skipped", NULL };
static const char *const condition_results[] = { "success", "failure", NULL };

#define FIELD(field, field_kind, ...) .name = #field, .kind = field_kind, .offset = offsetof(Given, field), __VA_ARGS__

static const Param action_params[] = {
        { FIELD(result, PARAM_ENUM, .values = action_results) },
        { FIELD(after, PARAM_SPAN) },
        { FIELD(halt, PARAM_SPAN) },
        { .name = "outputs", .kind = PARAM_JSON },
        { FIELD(cause, PARAM_STRING) },
        { FIELD(cause_kind, PARAM_STRING) },
        {},
};

static const Param condition_params[] = {
        { FIELD(result, PARAM_ENUM, .values = condition_results) },
        { FIELD(after, PARAM_SPAN) },
        { FIELD(cause, PARAM_STRING) },
        { FIELD(cause_kind, PARAM_STRING) },
        { .name = "changes", .kind = PARAM_JSON },
        {},
};

/* For leaves of either class. */
static const Param any_params[] = {
        { FIELD(result, PARAM_ENUM, .values = condition_results) },
        { FIELD(after, PARAM_SPAN) },
        { FIELD(halt, PARAM_SPAN) },
        { FIELD(cause, PARAM_STRING) },
        { FIELD(cause_kind, PARAM_STRING) },
        {},
};

static const Fields action_fields = { "an action", action_params };
static const Fields condition_fields = { "a condition", condition_params };
static const Fields any_fields = { "the default", any_params };

static const Param change_params[] = {
        { .name = "at",
          .kind = PARAM_SPAN,
          .offset = offsetof(Change, at),
          .required = true,
          .doc = "when it happens, counted from the start of the run" },
        { .name = "result",
          .kind = PARAM_ENUM,
          .offset = offsetof(Change, result),
          .values = condition_results,
          .required = true,
          .doc = "the outcome of the condition from then on, \"success\" or \"failure\"" },
        { .name = "cause", .kind = PARAM_STRING, .offset = offsetof(Change, cause) },
        { .name = "cause_kind", .kind = PARAM_STRING, .offset = offsetof(Change, cause_kind) },
        {},
};

static const Fields change_fields = { "a change", change_params };

/* The item of the member with that name; 0: not given. */
static uint32_t item_of(const Fields *fields, const uint32_t items[static FIELDS_MAX], const char *name) {
        for (const Param *param = fields->params; param->name; param++)
                if (g_str_equal(param->name, name))
                        return items[param - fields->params];

        return 0;
}

/* A cause has one kind, so "*" is refused. */
static void check_cause_kind(Reader *reader, uint32_t item, const char *pattern) {
        char *problem = pattern ? cause_pattern_problem(pattern, NULL) : NULL;

        if (pattern && !problem && strchr(pattern, '*'))
                problem = g_strdup("this names a single cause, so it cannot contain '*'");
        if (problem)
                reader_error(reader, item, g_strconcat("cause_kind: ", problem, NULL));
        g_free(problem);
}

static void read_change(Reader *reader, uint32_t item, uint64_t earliest, Change *ret_change) {
        uint32_t items[FIELDS_MAX] = {};

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_unexpected(reader, item, "changes: expected objects with 'at' and 'result'");
                return;
        }

        reader_read_fields(reader, item, &change_fields, ret_change, items);
        ret_change->result += STATUS_SUCCESS;
        check_cause_kind(reader, item_of(&change_fields, items, "cause_kind"), ret_change->cause_kind);
        if (items[0] > 0 && ret_change->at < earliest) {
                g_autofree char *at = span_format(ret_change->at);

                reader_error(reader, items[0],
                             g_strdup_printf("at: %s is not later than the change before; put them in order", at));
        }
}

static void read_changes(Reader *reader, uint32_t item, Outcome *outcome) {
        uint32_t n = text_item(&reader->text, item)->count, element = item + 1;
        uint64_t earliest = 0;
        Change *changes;

        if (text_kind(&reader->text, item) != TEXT_ARRAY) {
                reader_unexpected(reader, item,
                                  "changes: expected a list, [{\"at\": \"1s\", \"result\": \"failure\"}]");
                return;
        }

        changes = arena_alloc(reader->scenario->arena, (n + 1) * sizeof(Change));
        for (uint32_t i = 0; i < n; i++, element = text_next(&reader->text, element)) {
                read_change(reader, element, earliest, &changes[i]);
                earliest = changes[i].at + 1;
        }

        outcome->changes = changes;
        outcome->n_changes = n;
}

static void read_outputs(Reader *reader, uint32_t item, Outcome *outcome) {
        uint32_t key = item + 1;

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_unexpected(reader, item, "outputs: expected an object of variables");
                return;
        }

        if (reader_value(reader, item, "outputs", &outcome->outputs) == -EINVAL)
                return;
        arena_own(reader->scenario->arena, outcome->outputs);

        for (uint32_t i = 0; i < text_item(&reader->text, item)->count; i++, key = text_next(&reader->text, key + 1)) {
                g_autofree char *word = reader_string(reader, key), *shown = excerpt(word, strlen(word));

                if (!blackboard_name_valid(word))
                        reader_error(reader, key,
                                     g_strdup_printf("outputs: '%s' cannot be the name of a variable (a letter or '_', "
                                                     "then letters, digits, '_' and '-')",
                                                     shown));
        }
}

static void read_object(Reader *reader, uint32_t item, const Fields *fields, Outcome *ret_outcome) {
        uint32_t items[FIELDS_MAX] = {}, changes, outputs;
        Given given = {};

        reader_read_fields(reader, item, fields, &given, items);
        *ret_outcome = (Outcome){
                .result = item_of(fields, items, "result") > 0 ? given.result + STATUS_SUCCESS : STATUS_IDLE,
                .timed = item_of(fields, items, "after") > 0,
                .after = given.after,
                .halt = given.halt,
                .cause = given.cause,
                .cause_kind = given.cause_kind,
        };
        check_cause_kind(reader, item_of(fields, items, "cause_kind"), given.cause_kind);

        outputs = item_of(fields, items, "outputs");
        if (outputs > 0)
                read_outputs(reader, outputs, ret_outcome);

        changes = item_of(fields, items, "changes");
        if (changes > 0)
                read_changes(reader, changes, ret_outcome);
}

/* Reads an outcome, without checking it for a leaf. */
static void read_outcome(Reader *reader, uint32_t item, const Fields *fields, const char *expected,
                         Outcome *ret_outcome) {
        g_autofree char *all = g_strconcat("expected ", expected, NULL);
        Given given = { .result = -1 };

        switch (text_kind(&reader->text, item)) {
        case TEXT_STRING:
                reader_set(reader, item, &fields->params[0], &given);
                ret_outcome->result = given.result + STATUS_SUCCESS;
                break;
        case TEXT_OBJECT:
                read_object(reader, item, fields, ret_outcome);
                break;
        default:
                reader_unexpected(reader, item, all);
        }
}

static const Role *reader_read_role(Reader *reader, uint32_t item, const NodeId *leaves, uint32_t n_leaves) {
        static const char *const expected = "\"success\", \"failure\", an object such as {\"after\": \"150ms\"}";
        bool list = text_kind(&reader->text, item) == TEXT_ARRAY,
             condition = reader->tree->nodes[leaves[0]].type->class == NODE_CONDITION;
        g_autofree char *or_list = g_strdup_printf("%s or a list of such", expected);
        uint32_t n = list ? text_item(&reader->text, item)->count : 1, element = list ? item + 1 : item;
        Role *role = arena_alloc(reader->scenario->arena, sizeof(Role));
        Outcome *outcomes = arena_alloc(reader->scenario->arena, (n + 1) * sizeof(Outcome));

        if (n == 0)
                reader_error(reader, item, g_strdup("this list is empty; give an outcome for each execution"));

        for (uint32_t i = 0; i < n; i++, element = text_next(&reader->text, element)) {
                read_outcome(reader, element, condition ? &condition_fields : &action_fields, list ? expected : or_list,
                             &outcomes[i]);

                /* Each leaf can have that outcome. */
                for (uint32_t j = 0; j < n_leaves; j++) {
                        const NodeType *type = reader->tree->nodes[leaves[j]].type;
                        const Outcome *outcome = &outcomes[i];

                        if (type->flags & TYPE_NEVER_FAILS && outcome->result == STATUS_FAILURE)
                                reader_error(reader, element,
                                             g_strdup_printf("result: the type %s never fails", type->name));
                        if (type->flags & TYPE_NEVER_SUCCEEDS && outcome->result == STATUS_SUCCESS)
                                reader_error(reader, element,
                                             g_strdup_printf("result: the type %s never succeeds", type->name));
                        if (type->flags & TYPE_IMMEDIATE && (outcome->after > 0 || outcome->halt > 0))
                                reader_error(reader, element,
                                             g_strdup_printf("%s: the type %s always completes at once",
                                                             outcome->after > 0 ? "after" : "halt", type->name));
                }
        }

        *role = (Role){ .outcomes = outcomes, .n_outcomes = n };
        return role;
}

/* Indices of top_params. */
enum {
        TOP_LEAVES,
        TOP_DEFAULT,
        TOP_SET,
        TOP_HALT
};

static const Param top_params[] = {
        [TOP_LEAVES] = { .name = "leaves", .kind = PARAM_JSON },
        [TOP_DEFAULT] = { .name = "default", .kind = PARAM_JSON },
        [TOP_SET] = { .name = "set", .kind = PARAM_JSON },
        [TOP_HALT] = { .name = "halt", .kind = PARAM_SPAN, .offset = offsetof(Scenario, halt) },
        {},
};

static const Fields top_fields = { "a script", top_params };

static void add_node(GHashTable *index, char *word, NodeId node) {
        GArray *nodes = g_hash_table_lookup(index, word);

        if (nodes)
                g_free(word);
        else {
                nodes = g_array_new(false, false, sizeof(NodeId));
                g_hash_table_insert(index, word, nodes);
        }

        g_array_append_val(nodes, node);
}

/* Maps names, or paths, to leaves: word -> GArray of NodeId. */
static GHashTable *index_leaves(const Tree *tree, bool paths) {
        GHashTable *index =
                g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify) (void *) g_array_unref);

        for (NodeId node = 0; node < tree->n_nodes; node++)
                if (tree->nodes[node].flags & NODE_LEAF) {
                        char *word = paths ? tree_node_path(tree, node) : g_strdup(tree_node_name(tree, node)),
                             *plain = tree_plain_path(word);

                        if (!g_str_equal(plain, word))
                                add_node(index, word, node);
                        else
                                g_free(word);
                        add_node(index, plain, node);
                }

        return index;
}

/* A node with that name or path that is not a leaf, or NODE_NONE. */
static NodeId find_inner(const Tree *tree, const char *word) {
        for (NodeId node = 0; node < tree->n_nodes; node++) {
                g_autofree char *path = NULL;

                if (tree->nodes[node].flags & NODE_LEAF)
                        continue;
                if (g_str_equal(tree_node_name(tree, node), word))
                        return node;

                path = strchr(word, '/') ? tree_node_path(tree, node) : NULL;
                if (g_strcmp0(path, word) == 0)
                        return node;
        }

        return NODE_NONE;
}

static void offer_all(Nearest *nearest, GHashTable *index) {
        GHashTableIter iter;
        void *word;

        g_hash_table_iter_init(&iter, index);
        while (g_hash_table_iter_next(&iter, &word, NULL))
                nearest_offer(nearest, word);
}

static void report_no_leaf(Reader *reader, uint32_t key, const char *word, GHashTable *names, GHashTable *paths) {
        g_autofree char *shown = excerpt(word, strlen(word));
        NodeId inner = find_inner(reader->tree, word);
        Nearest nearest = { .word = word };

        if (inner != NODE_NONE) {
                reader_error(reader, key,
                             g_strdup_printf("'%s' has the type %s and is no leaf; a script is about leaves only",
                                             shown, reader->tree->nodes[inner].type->name));
                return;
        }

        offer_all(&nearest, names);
        offer_all(&nearest, paths);
        reader_error(reader, key,
                     nearest.best
                             ? g_strdup_printf("there is no leaf '%s'; did you mean '%s'?", shown, nearest.best)
                             : g_strdup_printf("there is no leaf '%s'; name one, or give its path: Boot/Load", shown));
}

static void read_leaf(Reader *reader, uint32_t key, GHashTable *names, GHashTable *paths) {
        g_autofree char *word = reader_string(reader, key);
        GArray *by_path = g_hash_table_lookup(paths, word), *leaves = by_path ?: g_hash_table_lookup(names, word);
        GHashTable *roles = by_path ? reader->scenario->by_path : reader->scenario->by_name;
        const Node *nodes = reader->tree->nodes;
        const Role *role;
        NodeClass class;
        bool mixed = false;

        if (!leaves) {
                report_no_leaf(reader, key, word, names, paths);
                return;
        }

        if (g_hash_table_contains(roles, GUINT_TO_POINTER(g_array_index(leaves, NodeId, 0)))) {
                reader_error(reader, key, g_strdup_printf("'%s' is given twice", word));
                return;
        }

        class = nodes[g_array_index(leaves, NodeId, 0)].type->class;
        for (unsigned i = 1; i < leaves->len; i++)
                mixed |= nodes[g_array_index(leaves, NodeId, i)].type->class != class;
        if (mixed) {
                reader_error(reader, key,
                             g_strdup_printf("'%s' names an action and a condition; give the path of each", word));
                return;
        }

        reader->where = word;
        role = reader_read_role(reader, key + 1, (const NodeId *) (void *) leaves->data, leaves->len);
        for (unsigned i = 0; i < leaves->len; i++)
                g_hash_table_insert(roles, GUINT_TO_POINTER(g_array_index(leaves, NodeId, i)), (Role *) role);
        reader->where = NULL;
}

static void read_leaves(Reader *reader, uint32_t item) {
        g_autoptr(GHashTable) names = NULL, paths = NULL;
        uint32_t n = text_item(&reader->text, item)->count, key = item + 1;

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_unexpected(reader, item, "leaves: expected an object, {\"LoadConfig\": \"failure\"}");
                return;
        }

        names = index_leaves(reader->tree, false);
        paths = index_leaves(reader->tree, true);
        for (uint32_t i = 0; i < n; i++, key = text_next(&reader->text, key + 1))
                read_leaf(reader, key, names, paths);
}

static const Param setting_params[] = {
        { .name = "at",
          .kind = PARAM_SPAN,
          .offset = offsetof(Setting, at),
          .required = true,
          .doc = "when a user sets the variables, counted from the start of the run" },
        { .name = "variables",
          .kind = PARAM_JSON,
          .required = true,
          .doc = "an object of the variables and their values" },
        {},
};

static const Fields setting_fields = { "an entry of set", setting_params };

static void read_setting(Reader *reader, uint32_t item, Setting *ret_setting) {
        uint32_t items[FIELDS_MAX] = {}, variables;

        if (text_kind(&reader->text, item) != TEXT_OBJECT) {
                reader_unexpected(reader, item, "set: expected objects with 'at' and 'variables'");
                return;
        }

        reader_read_fields(reader, item, &setting_fields, ret_setting, items);
        variables = item_of(&setting_fields, items, "variables");
        if (variables == 0)
                return;
        if (text_kind(&reader->text, variables) != TEXT_OBJECT)
                reader_unexpected(reader, variables, "variables: expected an object of variables");
        else if (reader_value(reader, variables, "variables", &ret_setting->variables) != -EINVAL)
                arena_own(reader->scenario->arena, ret_setting->variables);
}

static void read_settings(Reader *reader, uint32_t item) {
        uint32_t n = text_item(&reader->text, item)->count, element = item + 1;
        Setting *settings;

        if (text_kind(&reader->text, item) != TEXT_ARRAY) {
                reader_unexpected(reader, item,
                                  "set: expected a list, [{\"at\": \"1s\", \"variables\": {\"mode\": \"eco\"}}]");
                return;
        }

        settings = arena_alloc(reader->scenario->arena, (n + 1) * sizeof(Setting));
        for (uint32_t i = 0; i < n; i++, element = text_next(&reader->text, element))
                read_setting(reader, element, &settings[i]);
        reader->scenario->settings = settings;
        reader->scenario->n_settings = n;
}

static void read_top(Reader *reader) {
        uint32_t items[FIELDS_MAX] = {};

        if (text_kind(&reader->text, 0) != TEXT_OBJECT) {
                reader_unexpected(reader, 0, "a script is an object, {\"leaves\": {\"LoadConfig\": \"failure\"}}");
                return;
        }

        reader_read_fields(reader, 0, &top_fields, reader->scenario, items);
        if (items[TOP_LEAVES] > 0)
                read_leaves(reader, items[TOP_LEAVES]);
        if (items[TOP_DEFAULT] > 0)
                read_outcome(reader, items[TOP_DEFAULT], &any_fields,
                             "\"success\", \"failure\" or an object such as {\"after\": \"150ms\"}",
                             &reader->scenario->fallback);
        if (items[TOP_SET] > 0)
                read_settings(reader, items[TOP_SET]);
}

static void read_text(Reader *reader, const char *text, size_t length) {
        g_autofree char *error = NULL;
        size_t blank = 0, offset = 0;

        while (blank < length && g_ascii_isspace(text[blank]))
                blank++;
        if (blank == length)
                error = g_strdup(
                        "the file is empty; a script is an object, {\"leaves\": {\"LoadConfig\": \"failure\"}}");
        else if (text_read(text, length, &reader->text, &offset, &error) >= 0)
                read_top(reader);

        if (error)
                diagnostics_add(reader->diagnostics, 0, offset, false, NULL, g_steal_pointer(&error));
}

int scenario_read(const char *text, size_t length, const Tree *tree, Diagnostics *diagnostics,
                  Scenario **ret_scenario) {
        g_autoptr(Scenario) scenario = scenario_new();
        g_autoptr(GString) scratch = g_string_new(NULL);
        Reader reader = { .scratch = scratch, .tree = tree, .diagnostics = diagnostics, .scenario = scenario };

        read_text(&reader, text, length);
        text_clear(&reader.text);
        diagnostics_locate(diagnostics, &(DiagnosticsText){ .text = text, .length = length });
        if (diagnostics_count_errors(diagnostics) > 0)
                return -EINVAL;

        *ret_scenario = g_steal_pointer(&scenario);
        return 0;
}

int scenario_read_file(const char *path, const Tree *tree, Diagnostics *diagnostics, Scenario **ret_scenario) {
        g_autofree char *text = NULL;
        size_t length;
        int r;

        r = file_read(path, &text, &length);
        if (r < 0) {
                diagnostics_add(diagnostics, 0, DIAGNOSTICS_NOWHERE, false, NULL,
                                g_strdup_printf("cannot be read: %s", g_strerror(-r)));
                return r;
        }

        return scenario_read(text, length, tree, diagnostics, ret_scenario);
}
