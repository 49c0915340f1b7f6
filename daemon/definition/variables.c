/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A scope is made when it is first needed, and stays: its conditions may be looked at again when the SubTree has
 * completed. To enter the SubTree sets it anew.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "definition/variables.h"
#include "script/scripts.h"
#include "script/seen.h"
#include "script/variable.h"

typedef struct Scope {
        Blackboard *blackboard; /* NULL: not needed yet */
        bool active;            /* something inside may be running */
        uint64_t seen;          /* its version when changes were asked for last */
        uint32_t element;       /* that was handed out last, of the child of a ForEach */
} Scope;

/* What a while was when its scope had that version. */
typedef struct While {
        uint64_t version;
        Verdict verdict;
} While;

struct Variables {
        const Definition *definition;
        unsigned n_scopes;
        /* NodeId -> json_object: what a Loop or ForEach hands out, the last value of an OnChange. NULL until there is
         * one. */
        GHashTable *kept;
        GHashTable *whiles; /* NodeId -> While, the same */
        GHashTable *seen;   /* NodeId -> json_object: what the expression saw that decided last, the same */
        Cause *error;       /* the last one, or NULL */
        Scope scopes[];
};

static void on_value_dropped(void *value) {
        json_object_put(value);
}

/* What the tree of the scope begins with: its own variables, and the defaults of its inputs. */
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

Variables *variables_new(const Definition *definition) {
        unsigned n_scopes = definition_n_scopes(definition);
        Variables *variables = g_malloc0(sizeof(Variables) + n_scopes * sizeof(Scope));
        g_autoptr(json_object) initial = initial_variables(definition_scope_info(definition, 0));
        Scope *outermost = variables->scopes;

        variables->definition = definition;
        variables->n_scopes = n_scopes;
        outermost->blackboard = blackboard_new();
        outermost->active = true;
        blackboard_reset(outermost->blackboard, initial);
        outermost->seen = blackboard_version(outermost->blackboard);
        return variables;
}

void variables_free(Variables *variables) {
        if (!variables)
                return;

        /* Those around come before those inside. */
        for (unsigned i = variables->n_scopes; i > 0; i--)
                blackboard_free(variables->scopes[i - 1].blackboard);

        g_clear_pointer(&variables->kept, g_hash_table_unref);
        g_clear_pointer(&variables->whiles, g_hash_table_unref);
        g_clear_pointer(&variables->seen, g_hash_table_unref);
        cause_unref(variables->error);
        g_free(variables);
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
                uint64_t version = scope->active ? blackboard_version(scope->blackboard) : scope->seen;

                changed |= version != scope->seen;
                scope->seen = version;
        }

        return changed;
}

Cause *variables_error(const Variables *variables) {
        return variables->error;
}

/* Takes the text and the facts. */
static void set_error(Variables *variables, const char *kind, json_object *facts, char *error) {
        g_autofree char *text = error;

        cause_unref(variables->error);
        variables->error = cause_new(kind, facts, text);
}

static Verdict script_failed(Variables *variables, const Script *script, char *error) {
        set_error(variables, CAUSE_EXPRESSION, facts_new("expression", fact_text(script_code(script)), NULL), error);
        return VERDICT_ERROR;
}

static Verdict test_script(Variables *variables, const Blackboard *scope, const Script *script) {
        char *error;
        bool truth;

        if (script_test(script, scope, NULL, &truth, &error) < 0)
                return script_failed(variables, script, error);

        return truth ? VERDICT_YES : VERDICT_NO;
}

/* Halts and hooks come before the outcome is told, and may set what the expression has read. */
static void note_seen(Variables *variables, NodeId node, const Script *script) {
        if (!variables->seen)
                variables->seen = g_hash_table_new_full(NULL, NULL, NULL, on_value_dropped);

        g_hash_table_replace(variables->seen, GUINT_TO_POINTER(node),
                             seen_variables(variables_scope(variables, node), script_reads(script)));
}

json_object *variables_seen(const Variables *variables, NodeId node) {
        void *seen = variables->seen ? g_hash_table_lookup(variables->seen, GUINT_TO_POINTER(node)) : NULL;

        return json_object_get(seen);
}

/* It is asked again at every tick while the node runs. */
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
        } else if (last->version == version)
                return last->verdict;

        *last = (While){ .version = version, .verdict = test_script(variables, scope, script) };
        return last->verdict;
}

/* Where there is no guard of the kind, only a while holds. */
Verdict variables_guard(Variables *variables, NodeId node, Guard guard) {
        const Script *script = definition_guard(variables->definition, node, guard);
        Verdict passes = guard == GUARD_WHILE ? VERDICT_YES : VERDICT_NO, verdict;

        if (!script)
                return passes;

        verdict = guard == GUARD_WHILE ? test_while(variables, node, script)
                                       : test_script(variables, variables_scope(variables, node), script);
        if (verdict != passes && verdict != VERDICT_ERROR)
                note_seen(variables, node, script);

        return verdict;
}

Verdict variables_hook(Variables *variables, NodeId node, Hook hook) {
        const Script *script = definition_hook(variables->definition, node, hook);
        char *error;

        if (!script || script_run(script, variables_scope(variables, node), &error) >= 0)
                return VERDICT_YES;

        return script_failed(variables, script, error);
}

Verdict variables_test(Variables *variables, NodeId node, const Script *condition) {
        Verdict verdict = test_script(variables, variables_scope(variables, node), condition);

        if (verdict == VERDICT_NO)
                note_seen(variables, node, condition);

        return verdict;
}

uint32_t variables_match(Variables *variables, NodeId node, const char *variable, const Script *of,
                         const char *const *cases) {
        const Blackboard *scope = variables_scope(variables, node);
        g_autoptr(json_object) value = NULL;
        char *error;

        if (!of)
                return variable_match(scope, variable, cases);

        if (script_evaluate(of, scope, NULL, &value, &error) < 0) {
                script_failed(variables, of, error);
                return UINT32_MAX;
        }

        return value_match(value, cases);
}

/* Takes the value. Values do not change, so a list is as it was when it was kept. */
static void keep(Variables *variables, NodeId node, json_object *value) {
        if (!variables->kept)
                variables->kept = g_hash_table_new_full(NULL, NULL, NULL, on_value_dropped);

        g_hash_table_replace(variables->kept, GUINT_TO_POINTER(node), value);
}

static bool get_kept(const Variables *variables, NodeId node, json_object **ret_value) {
        void *value;

        if (!variables->kept || !g_hash_table_lookup_extended(variables->kept, GUINT_TO_POINTER(node), NULL, &value))
                return false;

        *ret_value = value;
        return true;
}

Verdict variables_has_changed(Variables *variables, NodeId node, const Script *of) {
        json_object *value, *before;
        char *error;

        if (script_evaluate(of, variables_scope(variables, node), NULL, &value, &error) < 0)
                return script_failed(variables, of, error);

        if (get_kept(variables, node, &before) && json_object_equal(before, value)) {
                json_object_put(value);
                note_seen(variables, node, of);
                return VERDICT_NO;
        }

        keep(variables, node, value);
        return VERDICT_YES;
}

bool variables_next_element(Variables *variables, NodeId node, const char *list, const char *variable, uint32_t index) {
        Blackboard *scope = variables_scope(variables, node);
        json_object *value = NULL;

        if (index == 0) {
                blackboard_get(scope, list, &value);
                keep(variables, node, json_object_get(value));
        }

        if (!get_kept(variables, node, &value) || !json_object_is_type(value, json_type_array) ||
            index >= json_object_array_length(value))
                return false;

        blackboard_set(scope, variable, json_object_get(json_object_array_get_idx(value, index)));
        return true;
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
        if (!json_object_is_type(items, json_type_array)) {
                const char *json = json_object_to_json_string_ext(items, JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = excerpt(json, strlen(json));

                set_error(variables, CAUSE_PARAMETER, NULL,
                          g_strdup_printf("items: expected a list, but got %s", shown));
                return UINT32_MAX;
        }

        keep(variables, for_each, json_object_get(items));
        return (uint32_t) json_object_array_length(items);
}

/* What the child begins with is no news to it. */
static void begin_scope(Scope *scope) {
        scope->active = true;
        scope->seen = blackboard_version(scope->blackboard);
}

void variables_hand_out(Variables *variables, NodeId for_each, NodeId child, uint32_t index) {
        const ForEachParams *params = definition_tree(variables->definition)->nodes[for_each].params;
        Scope *scope = get_scope(variables, definition_scope(variables->definition, child));
        json_object *items = NULL;

        get_kept(variables, for_each, &items);
        blackboard_set(scope->blackboard, params->as, json_object_get(json_object_array_get_idx(items, index)));
        if (params->index)
                blackboard_set(scope->blackboard, params->index, json_object_new_int64(index));
        scope->element = index;
        begin_scope(scope);
}

json_object *variables_element(const Variables *variables, NodeId for_each, NodeId child, uint32_t *ret_index,
                               uint32_t *ret_n) {
        json_object *items = NULL;

        *ret_index = variables->scopes[definition_scope(variables->definition, child)].element;
        *ret_n = get_kept(variables, for_each, &items) ? (uint32_t) json_object_array_length(items) : 0;
        return *ret_n > 0 ? json_object_array_get_idx(items, *ret_index) : NULL;
}

/* Over what its tree begins with, what the SubTree gives. NULL: something has the wrong type. */
static json_object *entry_variables(const ScopeInfo *info, json_object *given, char **ret_error) {
        g_autoptr(json_object) entry = initial_variables(info);

        if (!given)
                return g_steal_pointer(&entry);

        json_object_object_foreach(given, key, value) {
                const Declaration *input = declaration_find(info->inputs, key);

                if (declaration_check(input, value, ret_error) < 0)
                        return NULL;

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

/* The value of "result" in "result=camera_result", and the name behind that. False: it is not set. */
static bool get_output(const Blackboard *inside, const char *output, const char **ret_key, json_object **ret_value) {
        const char *separator = strchr(output, '=');
        g_autofree char *own = g_strndup(output, separator - output);

        *ret_key = separator + 1;
        return blackboard_get(inside, own, ret_value);
}

/* The right type of all that is declared and set. */
static int check_outputs(const Blackboard *inside, const Declaration *output, char **ret_error) {
        json_object *value;

        for (; output && output->name; output++)
                if (blackboard_get(inside, output->name, &value) && declaration_check(output, value, ret_error) < 0)
                        return -EINVAL;

        return 0;
}

bool variables_leave(Variables *variables, NodeId subtree, Status status) {
        const SubTreeParams *params = definition_tree(variables->definition)->nodes[subtree].params;
        unsigned index = definition_scope(variables->definition, subtree + 1);
        Scope *scope = get_scope(variables, index);
        json_object *value;
        const char *key;
        char *error;

        scope->active = false;
        if (status != STATUS_SUCCESS && status != STATUS_FAILURE)
                return true;

        if (check_outputs(scope->blackboard, definition_scope_info(variables->definition, index)->outputs, &error) <
            0) {
                set_error(variables, CAUSE_PARAMETER, NULL, error);
                return false;
        }

        for (const char *const *output = params->outputs; output && *output; output++)
                if (get_output(scope->blackboard, *output, &key, &value))
                        blackboard_set(variables_scope(variables, subtree), key, json_object_get(value));

        return true;
}
