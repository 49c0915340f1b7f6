/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements variables.h. A scope is made when it is first needed, and stays, since conditions inside it may be
 * evaluated again after the SubTree has completed. When the SubTree is started again, the scope is reset.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "basic/json-parse.h"
#include "basic/json-text.h"
#include "basic/sorted.h"
#include "run/causes.h"
#include "run/instance.h"
#include "run/variables.h"
#include "script/blackboard.h"
#include "script/reference.h"
#include "script/script-status.h"
#include "script/scripts.h"
#include "script/secrets.h"

/* How much of an element is written as JSON before it is shortened. */
#define ELEMENT_TEXT_BYTES 1024u

/* An element of a list that the child of a ForEach, or a copy of it, got. */
typedef struct Element {
        uint32_t index;
        char *text; /* short, as the list may change meanwhile */
} Element;

typedef struct Scope {
        Blackboard *blackboard; /* NULL: not needed yet */
        uint64_t checked : 63;  /* the version at the last check for changes */
        uint64_t active : 1;    /* nodes inside may be running */
        Element *element;       /* the last one, if this is the scope of such a child; NULL: none */
} Scope;

/* The verdict of a while for a version of its scope. */
typedef struct While {
        uint64_t version;
        Verdict verdict;
} While;

/* Parameters that variables gave to a node when it began. */
typedef struct Filled {
        json_object *noted; /* these variables */
        Params params;
} Filled;

struct Variables {
        const Definition *definition;
        Results *results; /* NULL: no script was evaluated yet */
        unsigned n_scopes;
        /* NodeId -> json_object: the list of a Loop or ForEach, the last value of an OnChange. NULL until one is
         * set. */
        GHashTable *kept;
        GHashTable *whiles; /* NodeId -> While, the same */
        GHashTable *traced; /* NodeId -> json_object: values read by the last deciding expression, the same */
        GHashTable *filled; /* NodeId -> Filled, the same */
        Cause *error;       /* the last one, or NULL */
        Scope scopes[];
};

/* The initial variables of the scope's tree: its blackboard, and the defaults of its inputs. */
static json_object *initial_variables(const ScopeInfo *info) {
        json_object *variables = json_object_new_object();

        if (info->blackboard) {
                json_object_object_foreach(info->blackboard, key, value)
                        json_object_object_add(variables, key, json_object_get(value));
        }

        for (const Declaration *input = info->inputs; input && input->name; input++)
                if (!input->required)
                        json_object_object_add(variables, input->name, json_object_get(input->fallback));

        return variables;
}

json_object *variables_initial(const Definition *definition) {
        return initial_variables(definition_scope_info(definition, 0));
}

static json_object *instance_value(const char *instance) {
        g_autofree char *text = *instance ? instance_text(instance) : NULL;

        return text ? json_object_new_string(text) : NULL;
}

Variables *variables_new(const Definition *definition, const char *id, const char *tree, const char *instance) {
        unsigned n_scopes = definition_n_scopes(definition), own = definition_own_variables(definition);
        Variables *variables = g_malloc0(sizeof(Variables) + n_scopes * sizeof(Scope));
        g_autoptr(json_object) initial = variables_initial(definition);
        Scope *outermost = variables->scopes;

        variables->definition = definition;
        variables->n_scopes = n_scopes;
        outermost->blackboard = blackboard_new(definition_limits(definition));
        blackboard_set_secrets(outermost->blackboard, definition_scope_info(definition, 0)->secrets);
        outermost->active = true;
        if (own & OWN_INSTANCE)
                json_object_object_add(initial, VARIABLE_INSTANCE, instance_value(instance));
        if (own & OWN_RUN) {
                json_object *run = json_object_new_object();

                json_object_object_add(run, "id", json_object_new_string(id));
                json_object_object_add(run, "tree", json_object_new_string(tree));
                json_object_object_add(run, "instance", instance_value(instance));
                json_object_object_add(initial, VARIABLE_RUN, run);
        }
        blackboard_reset(outermost->blackboard, initial);
        outermost->checked = blackboard_version(outermost->blackboard);
        return variables;
}

static void element_free(Element *element) {
        if (!element)
                return;

        g_free(element->text);
        g_free(element);
}

/* Takes the text. */
static void set_element(Scope *scope, uint32_t index, char *text) {
        element_free(scope->element);
        scope->element = g_new(Element, 1);
        *scope->element = (Element){ .index = index, .text = text };
}

static uint32_t element_index(const Scope *scope) {
        return scope->element ? scope->element->index : 0;
}

void variables_free(Variables *variables) {
        if (!variables)
                return;

        /* A scope has a greater number than the scope around it, which it uses. */
        for (unsigned i = variables->n_scopes; i > 0; i--) {
                blackboard_free(variables->scopes[i - 1].blackboard);
                element_free(variables->scopes[i - 1].element);
        }

        g_clear_pointer(&variables->kept, g_hash_table_unref);
        g_clear_pointer(&variables->whiles, g_hash_table_unref);
        g_clear_pointer(&variables->traced, g_hash_table_unref);
        g_clear_pointer(&variables->filled, g_hash_table_unref);
        cause_unref(variables->error);
        results_free(variables->results);
        g_free(variables);
}

Results *variables_results(Variables *variables) {
        variables->results = variables->results ?: results_new();
        return variables->results;
}

const char *variables_take_results(Variables *variables, unsigned *ret_n_again) {
        *ret_n_again = 0;
        return variables->results ? results_take(variables->results, ret_n_again) : NULL;
}

static Scope *get_scope(Variables *variables, unsigned index) {
        Scope *scope = &variables->scopes[index];
        const ScopeInfo *info;

        if (scope->blackboard)
                return scope;

        info = definition_scope_info(variables->definition, index);
        scope->blackboard = info->kind == SCOPE_LOCAL
                                    ? blackboard_new_local(get_scope(variables, info->parent)->blackboard, info->names)
                                    : blackboard_new_scope(variables->scopes[0].blackboard);
        blackboard_set_secrets(scope->blackboard, info->secrets);
        return scope;
}

Blackboard *variables_scope(Variables *variables, NodeId node) {
        unsigned index = variables->n_scopes > 1 ? definition_scope(variables->definition, node) : 0;

        return get_scope(variables, index)->blackboard;
}

Blackboard *variables_outermost(Variables *variables) {
        return variables->scopes[0].blackboard;
}

bool variables_have_changed(Variables *variables) {
        bool changed = false;

        for (unsigned i = 0; i < variables->n_scopes; i++) {
                Scope *scope = &variables->scopes[i];
                uint64_t version = scope->active ? blackboard_version(scope->blackboard) : scope->checked;

                changed |= version != scope->checked;
                scope->checked = version;
        }

        return changed;
}

Cause *variables_error(const Variables *variables) {
        return variables->error;
}

static void set_error(Variables *variables, const char *kind, json_object *facts, char *error) {
        g_autofree char *text = error;

        cause_unref(variables->error);
        variables->error = cause_new(kind, facts, text);
}

static void begin_scope(Scope *scope) {
        scope->active = true;
        scope->checked = blackboard_version(scope->blackboard);
}

/* The initial variables of the tree, replaced by those that the SubTree sets. NULL: a value has the wrong type. */
static json_object *entry_variables(const ScopeInfo *info, json_object *given, char **ret_error) {
        g_autoptr(json_object) entry = initial_variables(info);

        if (!given)
                return g_steal_pointer(&entry);

        json_object_object_foreach(given, key, value) {
                const Declaration *input = declaration_find(info->inputs, key);

                if (declaration_check(input, value, ret_error) < 0)
                        return NULL;
                if (secret_is_inside(value) && !input->secret) {
                        *ret_error = g_strdup_printf("the input '%s' gets a secret variable, so it must be declared "
                                                     "secret, too",
                                                     key);
                        return NULL;
                }

                json_object_object_add(entry, key, json_object_get(value));
        }

        return g_steal_pointer(&entry);
}

bool variables_enter(Variables *variables, NodeId subtree) {
        unsigned index = definition_scope(variables->definition, subtree + 1);
        Scope *scope = get_scope(variables, index);
        g_autoptr(json_object) entry = NULL;
        g_auto(Params) params = {};
        char *error = NULL;

        if (definition_params(variables->definition, subtree, variables_scope(variables, subtree), &params, &error) >=
            0)
                entry = entry_variables(definition_scope_info(variables->definition, index),
                                        ((const SubTreeParams *) params.values)->inputs, &error);
        if (!entry) {
                set_error(variables, CAUSE_PARAMETER, NULL, error);
                return false;
        }

        blackboard_reset(scope->blackboard, entry);
        begin_scope(scope);
        return true;
}

/* Checks the types of the declared outputs that are set. */
static int check_outputs(const Blackboard *inside, const Declaration *output, char **ret_error) {
        json_object *value;

        for (; output && output->name; output++)
                if (blackboard_get(inside, output->name, &value) && declaration_check(output, value, ret_error) < 0)
                        return -EINVAL;

        return 0;
}

int variables_check_outputs(const Variables *variables, char **ret_error) {
        return check_outputs(variables->scopes[0].blackboard, definition_scope_info(variables->definition, 0)->outputs,
                             ret_error);
}

json_object *variables_outputs(const Variables *variables, uint32_t *ret_n_more) {
        const Declaration *output = definition_scope_info(variables->definition, 0)->outputs;
        uint64_t room = VARIABLES_OUTPUTS_MAX;
        json_object *outputs = NULL, *value;

        *ret_n_more = 0;
        for (; output->name; output++) {
                uint64_t bytes;

                if (!blackboard_get(variables->scopes[0].blackboard, output->name, &value))
                        continue;

                bytes = strlen(output->name) + blackboard_bytes_of(value);
                if (bytes > room) {
                        ++*ret_n_more;
                        continue;
                }

                room -= bytes;
                outputs = outputs ?: json_object_new_object();
                json_object_object_add(outputs, output->name, json_object_get(value));
        }

        return outputs;
}

bool variables_leave(Variables *variables, NodeId subtree, Status status) {
        const SubTreeParams *params = definition_tree(variables->definition)->nodes[subtree].params;
        unsigned index = definition_scope(variables->definition, subtree + 1);
        Scope *scope = get_scope(variables, index);
        json_object *value;
        char *error;

        scope->active = false;
        if (status != STATUS_SUCCESS && status != STATUS_FAILURE)
                return true;

        if (check_outputs(scope->blackboard, definition_scope_info(variables->definition, index)->outputs, &error) <
            0) {
                set_error(variables, CAUSE_PARAMETER, NULL, error);
                return false;
        }

        for (const char *const *output = params->outputs; output && *output; output++) {
                /* "result=camera_result" */
                const char *separator = strchr(*output, '='), *key = separator + 1;
                g_autofree char *own = g_strndup(*output, (size_t) (separator - *output));

                if (!blackboard_get(scope->blackboard, own, &value))
                        continue;
                if (secret_is_inside(value) && !blackboard_seals(variables_scope(variables, subtree), key)) {
                        set_error(variables, CAUSE_PARAMETER, NULL,
                                  g_strdup_printf("the output for '%s' is a secret variable, so '%s' must be declared "
                                                  "secret, too",
                                                  key, key));
                        return false;
                }
                blackboard_set(variables_scope(variables, subtree), key, json_object_get(value));
        }

        return true;
}

static void on_value_dropped(void *value) {
        json_object_put(value);
}

/* Takes the value. table: one of NodeId -> json_object. */
static void put(GHashTable **table, NodeId node, json_object *value) {
        *table = *table ?: g_hash_table_new_full(NULL, NULL, NULL, on_value_dropped);
        g_hash_table_replace(*table, GUINT_TO_POINTER(node), value);
}

static bool get_kept(const Variables *variables, NodeId node, json_object **ret_value) {
        void *value;

        if (!variables->kept || !g_hash_table_lookup_extended(variables->kept, GUINT_TO_POINTER(node), NULL, &value))
                return false;

        *ret_value = value;
        return true;
}

static Verdict script_failed(Variables *variables, const Script *script, char *error) {
        set_error(variables, CAUSE_EXPRESSION, facts_new("expression", fact_text(script_code(script)), NULL), error);
        return VERDICT_ERROR;
}

static Verdict test_script(Variables *variables, const Blackboard *scope, const Script *script) {
        char *error;
        bool truth;

        if (results_test(variables_results(variables), script, scope, &truth, &error) < 0)
                return script_failed(variables, script, error);

        return truth ? VERDICT_YES : VERDICT_NO;
}

/* Stores the values now, because halts and hooks run before the outcome is reported, and may set these variables. */
static void trace_inputs(Variables *variables, NodeId node, const Script *script) {
        put(&variables->traced, node, traced_inputs(variables_scope(variables, node), script_reads(script)));
}

json_object *variables_traced(const Variables *variables, NodeId node) {
        void *traced = variables->traced ? g_hash_table_lookup(variables->traced, GUINT_TO_POINTER(node)) : NULL;

        return json_object_get(traced);
}

/* A while is tested at every tick while the node runs, so its verdict is kept until a variable changes. It counts as a
 * result all the same, because a run that continues from a snapshot does not have it. */
static Verdict test_while(Variables *variables, NodeId node, const Script *script) {
        const Blackboard *scope = variables_scope(variables, node);
        uint64_t version = blackboard_version(scope);
        While *last;

        if (!variables->whiles)
                variables->whiles = g_hash_table_new_full(NULL, NULL, NULL, g_free);

        last = g_hash_table_lookup(variables->whiles, GUINT_TO_POINTER(node));
        if (!last) {
                last = g_new(While, 1);
                g_hash_table_insert(variables->whiles, GUINT_TO_POINTER(node), last);
        } else if (last->version == version && last->verdict != VERDICT_ERROR) {
                results_test_known(variables_results(variables), last->verdict == VERDICT_YES);
                return last->verdict;
        }

        *last = (While){ .version = version, .verdict = test_script(variables, scope, script) };
        return last->verdict;
}

/* A guard that is not given lets the node pass: a while is true then, all others are false. */
Verdict variables_guard(Variables *variables, NodeId node, Guard guard) {
        const Script *script = definition_guard(variables->definition, node, guard);
        Verdict passes = guard == GUARD_WHILE ? VERDICT_YES : VERDICT_NO, verdict;

        if (!script)
                return passes;

        verdict = guard == GUARD_WHILE ? test_while(variables, node, script)
                                       : test_script(variables, variables_scope(variables, node), script);
        if (verdict != passes && verdict != VERDICT_ERROR)
                trace_inputs(variables, node, script);

        return verdict;
}

Verdict variables_hook(Variables *variables, NodeId node, Hook hook) {
        const Script *script = definition_hook(variables->definition, node, hook);
        char *error;

        if (!script || results_run(variables_results(variables), script, variables_scope(variables, node), &error) >= 0)
                return VERDICT_YES;

        return script_failed(variables, script, error);
}

Verdict variables_test(Variables *variables, NodeId node, const Script *condition) {
        Verdict verdict = test_script(variables, variables_scope(variables, node), condition);

        if (verdict == VERDICT_NO)
                trace_inputs(variables, node, condition);

        return verdict;
}

uint32_t variables_match(Variables *variables, NodeId node, const char *variable, const Script *of,
                         const char *const *cases) {
        const Blackboard *scope = variables_scope(variables, node);
        json_object *value = NULL;
        uint32_t index;
        char *error;

        if (!of) {
                (void) blackboard_get(scope, variable, &value);
                return blackboard_match_value(value, cases);
        }

        if (results_match(variables_results(variables), of, scope, cases, &index, &error) < 0) {
                script_failed(variables, of, error);
                return UINT32_MAX;
        }

        return index;
}

Verdict variables_has_changed(Variables *variables, NodeId node, const Script *of) {
        json_object *value = NULL, *before = NULL;
        bool known = get_kept(variables, node, &before), changed;
        char *error;

        if (results_change(variables_results(variables), of, variables_scope(variables, node), known, before, &changed,
                           &value, &error) < 0)
                return script_failed(variables, of, error);

        if (!changed) {
                trace_inputs(variables, node, of);
                return VERDICT_NO;
        }

        put(&variables->kept, node, value);
        return VERDICT_YES;
}

static void on_filled_dropped(void *value) {
        Filled *filled = value;

        json_object_put(filled->noted);
        params_clear(&filled->params);
        g_free(filled);
}

/* False: a value is wrong. */
static bool fill_in(Variables *variables, NodeId node, json_object *noted, char **ret_error) {
        const Node *nodes = definition_tree(variables->definition)->nodes;
        g_auto(Params) params = {};
        Filled *filled;

        if (definition_params_revealed(variables->definition, node, NULL, noted, NULL, &params, ret_error) < 0)
                return false;

        *ret_error = nodes[node].type->misfit ? nodes[node].type->misfit(nodes, node, params.values) : NULL;
        if (*ret_error)
                return false;

        variables->filled = variables->filled ?: g_hash_table_new_full(NULL, NULL, NULL, on_filled_dropped);
        filled = g_new(Filled, 1);
        *filled = (Filled){ .noted = json_object_get(noted), .params = params };
        params = (Params){};
        g_hash_table_replace(variables->filled, GUINT_TO_POINTER(node), filled);
        return true;
}

bool variables_fill_in(Variables *variables, NodeId node) {
        g_autoptr(json_object) noted =
                definition_note_variables(variables->definition, node, variables_scope(variables, node));
        char *error;

        if (fill_in(variables, node, noted, &error))
                return true;

        set_error(variables, CAUSE_PARAMETER, NULL, error);
        return false;
}

static const Filled *find_filled(const Variables *variables, NodeId node) {
        return variables->filled ? g_hash_table_lookup(variables->filled, GUINT_TO_POINTER(node)) : NULL;
}

const void *variables_params(const Variables *variables, NodeId node) {
        const Filled *filled = find_filled(variables, node);

        return filled ? filled->params.values : definition_tree(variables->definition)->nodes[node].params;
}

json_object *variables_filled_in(const Variables *variables, NodeId node) {
        const Filled *filled = find_filled(variables, node);

        return filled ? filled->noted : NULL;
}

/* The elements of lists, for Loop and ForEach. */

bool variables_next_element(Variables *variables, NodeId node, const char *list, const char *variable, uint32_t index) {
        Blackboard *scope = variables_scope(variables, node);
        json_object *value = NULL;

        if (index == 0) {
                blackboard_get(scope, list, &value);
                put(&variables->kept, node, json_object_get(value));
        }

        if (!get_kept(variables, node, &value) || !json_object_is_type(value, json_type_array) ||
            index >= json_object_array_length(value))
                return false;

        blackboard_set(scope, variable, json_object_get(json_object_array_get_idx(value, index)));
        return true;
}

void variables_tell_cause(Variables *variables, NodeId node, const char *variable, const Cause *cause) {
        const Tree *tree = definition_tree(variables->definition);
        g_autofree char *text = cause_describe(tree, cause, node),
                        *path = tree_node_path(tree, cause_origin(cause)->node);
        json_object *value = json_object_new_object();

        json_object_object_add(value, "node", json_object_new_string(path));
        json_object_object_add(value, "kind", json_object_new_string(cause_origin(cause)->kind));
        json_object_object_add(value, "text", fact_text(text));
        blackboard_set(variables_scope(variables, node), variable, value);
}

uint32_t variables_elements(Variables *variables, NodeId for_each) {
        g_auto(Params) params = {};
        char *error = NULL;
        json_object *items;

        if (definition_params(variables->definition, for_each, variables_scope(variables, for_each), &params, &error) <
            0) {
                set_error(variables, CAUSE_PARAMETER, NULL, error);
                return UINT32_MAX;
        }

        items = ((const ForEachParams *) params.values)->items;
        if (secret_is_inside(items)) {
                set_error(variables, CAUSE_PARAMETER, NULL, g_strdup("items: a secret variable cannot be an element"));
                return UINT32_MAX;
        }
        put(&variables->kept, for_each, json_object_get(items));
        return (uint32_t) json_object_array_length(items);
}

/* The values of secrets are never in variables. A string is written without quotes, unless nothing would be left. */
static char *describe_element(json_object *element) {
        const char *text;
        JsonText *writer;
        size_t length;
        char *shown;
        bool more;

        if (json_object_is_type(element, json_type_string) && json_object_get_string_len(element) > 0)
                return excerpt(json_object_get_string(element), (size_t) json_object_get_string_len(element));

        writer = json_text_new(element);
        do {
                more = json_text_continue(writer);
                text = json_text_get(writer, &length);
        } while (more && length < ELEMENT_TEXT_BYTES);

        shown = excerpt(text, length);
        json_text_free(writer);
        return shown;
}

void variables_hand_out(Variables *variables, NodeId for_each, NodeId child, uint32_t index) {
        const ForEachParams *params = definition_tree(variables->definition)->nodes[for_each].params;
        Scope *scope = get_scope(variables, definition_scope(variables->definition, child));
        g_autoptr(json_object) label = params->label ? json_object_new_string(params->label) : NULL, value = NULL;
        json_object *items, *item = NULL;
        g_autofree char *error = NULL;
        bool labelled;

        if (get_kept(variables, for_each, &items))
                item = json_object_array_get_idx(items, index);
        blackboard_set(scope->blackboard, params->as, json_object_get(item));
        if (params->index)
                blackboard_set(scope->blackboard, params->index, json_object_new_int64(index));
        /* The label refers to variables of the element. An element without what its label needs is described itself. */
        labelled = label && reference_expand(scope->blackboard, label, &value, &error) >= 0;
        set_element(scope, index, describe_element(labelled ? value : item));
        begin_scope(scope);
}

json_object *variables_element(const Variables *variables, NodeId for_each, NodeId child, uint32_t *ret_index,
                               uint32_t *ret_n) {
        json_object *items = NULL;

        *ret_index = element_index(&variables->scopes[definition_scope(variables->definition, child)]);
        *ret_n = get_kept(variables, for_each, &items) ? (uint32_t) json_object_array_length(items) : 0;
        return *ret_n > 0 ? json_object_array_get_idx(items, *ret_index) : NULL;
}

const char *variables_element_text(const Variables *variables, NodeId child) {
        const Node *nodes = definition_tree(variables->definition)->nodes;
        NodeId parent = nodes[child].parent;
        const Element *element;

        if (parent == NODE_NONE || !(nodes[parent].type->flags & TYPE_FOR_EACH))
                return NULL;

        element = variables->scopes[definition_scope(variables->definition, child)].element;
        return element ? element->text : NULL;
}

/* The state between two inputs, for snapshots. Changes count from the restore on. Verdicts of while are not saved,
 * because they are evaluated again. */

static void add(json_object *json, unsigned key, json_object *value) {
        char name[16];

        g_snprintf(name, sizeof(name), "%u", key);
        json_object_object_add(json, name, value);
}

/* NULL: the scope was only read, and is as if it had not been made. */
static json_object *scope_to_json(const Scope *scope) {
        g_autoptr(json_object) own = blackboard_own_to_json(scope->blackboard);
        json_object *json;

        if (!scope->active && element_index(scope) == 0 && json_object_object_length(own) == 0)
                return NULL;

        json = json_object_new_object();
        json_object_object_add(json, "variables", g_steal_pointer(&own));
        json_object_object_add(json, "active", json_object_new_boolean(scope->active));
        json_object_object_add(json, "element", json_object_new_int64(element_index(scope)));
        if (scope->element && scope->element->text)
                json_object_object_add(json, "element_text", json_object_new_string(scope->element->text));
        return json;
}

/* Sorted by node, so that equal states give equal texts. */
static json_object *table_to_json(GHashTable *table) {
        json_object *json = json_object_new_object();
        g_autoptr(GList) nodes = sorted_keys(table);

        for (const GList *link = nodes; link; link = link->next)
                add(json, GPOINTER_TO_UINT(link->data), json_object_get(g_hash_table_lookup(table, link->data)));

        return json;
}

json_object *variables_image(const Variables *variables) {
        json_object *json = json_object_new_object(), *scopes = json_object_new_object();

        for (unsigned i = 0; i < variables->n_scopes; i++) {
                json_object *scope = variables->scopes[i].blackboard ? scope_to_json(&variables->scopes[i]) : NULL;

                if (scope)
                        add(scopes, i, scope);
        }

        json_object_object_add(json, "scopes", scopes);
        json_object_object_add(json, "kept", table_to_json(variables->kept));
        json_object_object_add(json, "seen", table_to_json(variables->traced));
        if (variables->filled) {
                g_autoptr(GHashTable) noted = g_hash_table_new(NULL, NULL);

                TABLE_PAIRS(Filled, it, variables->filled)
                        g_hash_table_insert(noted, (void *) it.key, it.value->noted);

                json_object_object_add(json, "filled", table_to_json(noted));
        }
        return json;
}

static bool parse_key(const char *text, uint32_t limit, uint32_t *ret_key) {
        guint64 key;

        if (limit == 0 || !g_ascii_string_to_unsigned(text, 10, 0, limit - 1, &key, NULL))
                return false;

        *ret_key = (uint32_t) key;
        return true;
}

static bool scope_from_json(Variables *variables, unsigned index, json_object *json) {
        json_object *own = NULL, *active = NULL, *element = NULL, *text = NULL;
        char *shown = NULL;
        Scope *scope = get_scope(variables, index);

        if (!json_object_object_get_ex(json, "variables", &own) || !json_object_is_type(own, json_type_object) ||
            !json_object_object_get_ex(json, "active", &active) ||
            !json_object_object_get_ex(json, "element", &element))
                return false;

        blackboard_reset(scope->blackboard, own);
        scope->active = (bool) json_object_get_boolean(active);
        if (json_object_object_get_ex(json, "element_text", &text) && json_object_is_type(text, json_type_string))
                shown = excerpt(json_object_get_string(text), (size_t) json_object_get_string_len(text));
        if (shown || json_object_get_int64(element) != 0)
                set_element(scope, (uint32_t) json_object_get_int64(element), shown);
        return true;
}

GString *variables_take_secrets(Variables *variables) {
        GString *lines;

        if (!blackboard_take_secrets_changed(variables_outermost(variables)))
                return NULL;

        lines = g_string_new(NULL);
        for (unsigned i = 0; i < variables->n_scopes; i++) {
                const Blackboard *scope = variables->scopes[i].blackboard;
                g_autoptr(json_object) secrets = scope ? blackboard_own_secrets(scope) : NULL;

                if (!secrets)
                        continue;
                json_object_object_foreach(secrets, name, value) g_string_append_printf(
                        lines, "%u %s %s\n", i, name, json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
        }

        return lines;
}

void variables_restore_secrets(Variables *variables, const char *lines) {
        g_auto(GStrv) each = g_strsplit(lines, "\n", -1);

        for (char **line = each; *line; line++) {
                g_auto(GStrv) words = g_strsplit(*line, " ", 3);
                g_autofree char *number = NULL;
                json_object *value;
                uint32_t index;

                if (g_strv_length(words) == 3 && parse_key(words[0], variables->n_scopes, &index) &&
                    json_parse(words[2], strlen(words[2]), JSON_NESTING_MAX, &value, &number) >= 0)
                        blackboard_restore_secret(get_scope(variables, index)->blackboard, words[1], value);
        }
        (void) blackboard_take_secrets_changed(variables_outermost(variables));
}

bool variables_restore(Variables *variables, json_object *json, Cause *error) {
        json_object *scopes = json_member(json, "scopes", json_type_object),
                    *kept = json_member(json, "kept", json_type_object),
                    *traced = json_member(json, "seen", json_type_object),
                    *filled = json_member(json, "filled", json_type_object);
        const Tree *tree = definition_tree(variables->definition);
        unsigned index;
        NodeId node;

        if (!scopes || !kept || !traced)
                return false;

        json_object_object_foreach(scopes, name, scope) if (!parse_key(name, variables->n_scopes, &index) ||
                                                            !scope_from_json(variables, index, scope)) return false;
        for (unsigned i = 0; i < variables->n_scopes; i++)
                if (variables->scopes[i].blackboard)
                        variables->scopes[i].checked = blackboard_version(variables->scopes[i].blackboard);

        cause_unref(variables->error);
        variables->error = cause_ref(error);

        json_object_object_foreach(kept, keeper, value) {
                if (!parse_key(keeper, tree->n_nodes, &node) ||
                    /* The value of a ForEach must be a list. */
                    ((tree->nodes[node].type->flags & TYPE_FOR_EACH) && !json_object_is_type(value, json_type_array)))
                        return false;
                put(&variables->kept, node, json_object_get(value));
        }
        json_object_object_foreach(traced, key, values) {
                if (!parse_key(key, tree->n_nodes, &node))
                        return false;
                put(&variables->traced, node, json_object_get(values));
        }
        if (!filled)
                return true;

        json_object_object_foreach(filled, late, noted) {
                g_autofree char *problem = NULL;

                if (!parse_key(late, tree->n_nodes, &node) || !(tree->nodes[node].flags & NODE_LATE) ||
                    !json_object_is_type(noted, json_type_object) || !fill_in(variables, node, noted, &problem))
                        return false;
        }

        return true;
}
