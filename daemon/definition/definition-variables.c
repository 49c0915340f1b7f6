/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks the variables that are given to a run of a definition, when it starts and while it runs. Implements a part of
 * definition.h. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/excerpt.h"
#include "basic/nearest.h"
#include "definition/definition-state.h"

static char *no_input(const Definition *definition, const char *name) {
        const ScopeInfo *scope = definition_scope_info(definition, 0);
        g_autofree char *shown = excerpt(name, strlen(name));
        Nearest nearest = { .word = name };

        for (const Declaration *input = scope->inputs; input->name; input++)
                nearest_offer(&nearest, input->name);
        json_object_object_foreach(scope->blackboard, variable, value) {
                (void) value;
                nearest_offer(&nearest, variable);
        }

        if (nearest.best)
                return g_strdup_printf("the tree has no input '%s'; did you mean '%s'?", shown, nearest.best);

        return g_strdup_printf("the tree has no input '%s'; it can only be given what its file declares in 'inputs', "
                               "or has in 'blackboard'",
                               shown);
}

static int check_given(const Definition *definition, const char *name, json_object *value, char **ret_error) {
        const ScopeInfo *scope = definition_scope_info(definition, 0);
        const Declaration *input = declaration_find(scope->inputs, name);

        if (input)
                return declaration_check(input, value, ret_error);
        if (json_object_object_get_ex(scope->blackboard, name, NULL))
                return 0;

        *ret_error = no_input(definition, name);
        return -EINVAL;
}

int definition_check_start(const Definition *definition, json_object *variables, char **ret_error) {
        const Declaration *input = definition_scope_info(definition, 0)->inputs;

        if (variables) {
                json_object_object_foreach(variables, name, value) {
                        int r = check_given(definition, name, value, ret_error);

                        if (r < 0)
                                return r;
                }
        }

        for (; input->name; input++)
                if (input->required && !json_object_object_get_ex(variables, input->name, NULL)) {
                        *ret_error = g_strdup_printf("the input '%s' (%s) is missing%s%s", input->name,
                                                     variable_type_names[input->type], input->description ? ": " : "",
                                                     input->description ?: "");
                        return -ENXIO;
                }

        return 0;
}

static char *no_variable(const Definition *definition, const char *name) {
        g_autofree char *shown = excerpt(name, strlen(name));
        Nearest nearest = { .word = name };

        for (const char *const *variable = definition->loaded.variables; *variable; variable++)
                nearest_offer(&nearest, *variable);

        if (nearest.best)
                return g_strdup_printf("the tree has no variable '%s'; did you mean '%s'?", shown, nearest.best);

        return g_strdup_printf("the tree has no variable '%s'; its variables are those of its 'inputs' and "
                               "'blackboard', and what its nodes set",
                               shown);
}

static int compare_names(const void *a, const void *b) {
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static bool has_variable(const Definition *definition, const char *name) {
        const char *const *variables = definition->loaded.variables;

        return bsearch(&name, variables, g_strv_length((char **) variables), sizeof(char *), compare_names);
}

int definition_check_set(const Definition *definition, json_object *variables, char **ret_error) {
        const Declaration *inputs = definition_scope_info(definition, 0)->inputs;

        json_object_object_foreach(variables, name, value) {
                const Declaration *input = declaration_find(inputs, name);
                int r = input ? declaration_check(input, value, ret_error) : 0;

                if (r < 0)
                        return r;
                if (input || has_variable(definition, name))
                        continue;

                *ret_error = no_variable(definition, name);
                return -EINVAL;
        }

        return 0;
}
