/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A copy of a list is made when its Loop begins, and replaced when that begins anew. */

#include <json-c/linkhash.h>

#include "definition/variables.h"
#include "script/variable.h"

struct Variables {
        const Definition *definition;
        Blackboard *outermost;
        GHashTable *lists; /* NodeId -> json_object; what a Loop hands out. NULL until there is one */
};

static void on_list_dropped(void *list) {
        json_object_put(list);
}

Variables *variables_new(const Definition *definition) {
        Variables *variables = g_new0(Variables, 1);

        variables->definition = definition;
        variables->outermost = blackboard_new();
        json_object_object_foreach(definition_blackboard(definition), key, value)
                blackboard_set(variables->outermost, key, json_object_get(value));

        return variables;
}

void variables_free(Variables *variables) {
        if (!variables)
                return;

        g_clear_pointer(&variables->lists, g_hash_table_unref);
        blackboard_free(variables->outermost);
        g_free(variables);
}

Blackboard *variables_scope(Variables *variables, NodeId node) {
        return variables->outermost;
}

Blackboard *variables_outermost(Variables *variables) {
        return variables->outermost;
}

/* Where there is no guard of the kind, only a while holds. */
Verdict variables_guard(Variables *variables, NodeId node, Guard guard) {
        const char *variable = definition_guard(variables->definition, node, guard);

        return (variable ? variable_is_true(variables_scope(variables, node), variable) : guard == GUARD_WHILE)
                       ? VERDICT_YES
                       : VERDICT_NO;
}

Verdict variables_test(Variables *variables, NodeId node, const char *variable) {
        return variable_is_true(variables_scope(variables, node), variable) ? VERDICT_YES : VERDICT_NO;
}

uint32_t variables_match(Variables *variables, NodeId node, const char *variable, const char *const *cases) {
        return variable_match(variables_scope(variables, node), variable, cases);
}

/* What is not a list is an empty one. */
static json_object *copy_list(const Blackboard *blackboard, const char *key) {
        json_object *list, *copy = NULL;

        if (blackboard_get(blackboard, key, &list) && json_object_is_type(list, json_type_array))
                json_object_deep_copy(list, &copy, NULL);

        return copy ?: json_object_new_array();
}

static void keep_list(Variables *variables, NodeId node, json_object *list) {
        if (!variables->lists)
                variables->lists = g_hash_table_new_full(NULL, NULL, NULL, on_list_dropped);

        g_hash_table_replace(variables->lists, GUINT_TO_POINTER(node), list);
}

bool variables_next_element(Variables *variables, NodeId node, const char *list, const char *variable, uint32_t index) {
        Blackboard *scope = variables_scope(variables, node);
        json_object *copy;

        if (index == 0)
                keep_list(variables, node, copy_list(scope, list));

        copy = g_hash_table_lookup(variables->lists, GUINT_TO_POINTER(node));
        if (index >= json_object_array_length(copy))
                return false;

        blackboard_set(scope, variable, json_object_get(json_object_array_get_idx(copy, index)));
        return true;
}
