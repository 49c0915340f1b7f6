/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements variables.h. A scope is made when it is first needed, and stays, since conditions inside it may be
 * evaluated again after the SubTree has completed. When the SubTree is started again, the scope is reset.
 */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "run/variables-state.h"

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

Variables *variables_new(const Definition *definition) {
        unsigned n_scopes = definition_n_scopes(definition);
        Variables *variables = g_malloc0(sizeof(Variables) + n_scopes * sizeof(Scope));
        g_autoptr(json_object) initial = variables_initial(definition);
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

        /* A scope has a greater number than the scope around it, which it uses. */
        for (unsigned i = variables->n_scopes; i > 0; i--)
                blackboard_free(variables->scopes[i - 1].blackboard);

        g_clear_pointer(&variables->kept, g_hash_table_unref);
        g_clear_pointer(&variables->whiles, g_hash_table_unref);
        g_clear_pointer(&variables->seen, g_hash_table_unref);
        cause_unref(variables->error);
        g_free(variables);
}

Scope *variables_get_scope(Variables *variables, unsigned index) {
        Scope *scope = &variables->scopes[index];
        const ScopeInfo *info;

        if (scope->blackboard)
                return scope;

        info = definition_scope_info(variables->definition, index);
        scope->blackboard =
                info->kind == SCOPE_LOCAL
                        ? blackboard_new_local(variables_get_scope(variables, info->parent)->blackboard, info->names)
                        : blackboard_new_scope(variables->scopes[0].blackboard);
        return scope;
}

Blackboard *variables_scope(Variables *variables, NodeId node) {
        unsigned index = variables->n_scopes > 1 ? definition_scope(variables->definition, node) : 0;

        return variables_get_scope(variables, index)->blackboard;
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

void variables_set_error(Variables *variables, const char *kind, json_object *facts, char *error) {
        g_autofree char *text = error;

        cause_unref(variables->error);
        variables->error = cause_new(kind, facts, text);
}

void variables_begin_scope(Scope *scope) {
        scope->active = true;
        scope->seen = blackboard_version(scope->blackboard);
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

                json_object_object_add(entry, key, json_object_get(value));
        }

        return g_steal_pointer(&entry);
}

bool variables_enter(Variables *variables, NodeId subtree) {
        unsigned index = definition_scope(variables->definition, subtree + 1);
        Scope *scope = variables_get_scope(variables, index);
        g_autoptr(json_object) entry = NULL;
        g_auto(Params) params = {};
        char *error = NULL;

        if (definition_params(variables->definition, subtree, variables_scope(variables, subtree), &params, &error) >=
            0)
                entry = entry_variables(definition_scope_info(variables->definition, index),
                                        ((const SubTreeParams *) params.values)->inputs, &error);
        if (!entry) {
                variables_set_error(variables, CAUSE_PARAMETER, NULL, error);
                return false;
        }

        blackboard_reset(scope->blackboard, entry);
        variables_begin_scope(scope);
        return true;
}

/* The value of "result" in "result=camera_result", and the name after the '='. False: the variable is not set. */
static bool get_output(const Blackboard *inside, const char *output, const char **ret_key, json_object **ret_value) {
        const char *separator = strchr(output, '=');
        g_autofree char *own = g_strndup(output, separator - output);

        *ret_key = separator + 1;
        return blackboard_get(inside, own, ret_value);
}

/* Checks the types of the declared outputs that are set. */
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
        Scope *scope = variables_get_scope(variables, index);
        json_object *value;
        const char *key;
        char *error;

        scope->active = false;
        if (status != STATUS_SUCCESS && status != STATUS_FAILURE)
                return true;

        if (check_outputs(scope->blackboard, definition_scope_info(variables->definition, index)->outputs, &error) <
            0) {
                variables_set_error(variables, CAUSE_PARAMETER, NULL, error);
                return false;
        }

        for (const char *const *output = params->outputs; output && *output; output++)
                if (get_output(scope->blackboard, *output, &key, &value))
                        blackboard_set(variables_scope(variables, subtree), key, json_object_get(value));

        return true;
}
