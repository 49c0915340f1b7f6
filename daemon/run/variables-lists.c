/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keeps values of nodes, and gives the elements of lists to Loop and ForEach. */

#include <string.h>

#include "basic/excerpt.h"
#include "run/variables-state.h"

static void on_value_dropped(void *value) {
        json_object_put(value);
}

void variables_keep(Variables *variables, NodeId node, json_object *value) {
        if (!variables->kept)
                variables->kept = g_hash_table_new_full(NULL, NULL, NULL, on_value_dropped);

        g_hash_table_replace(variables->kept, GUINT_TO_POINTER(node), value);
}

bool variables_get_kept(const Variables *variables, NodeId node, json_object **ret_value) {
        void *value;

        if (!variables->kept || !g_hash_table_lookup_extended(variables->kept, GUINT_TO_POINTER(node), NULL, &value))
                return false;

        *ret_value = value;
        return true;
}

bool variables_next_element(Variables *variables, NodeId node, const char *list, const char *variable, uint32_t index) {
        Blackboard *scope = variables_scope(variables, node);
        json_object *value = NULL;

        if (index == 0) {
                blackboard_get(scope, list, &value);
                variables_keep(variables, node, json_object_get(value));
        }

        if (!variables_get_kept(variables, node, &value) || !json_object_is_type(value, json_type_array) ||
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
                variables_set_error(variables, CAUSE_PARAMETER, NULL, error);
                return UINT32_MAX;
        }

        items = ((const ForEachParams *) params.values)->items;
        variables_keep(variables, for_each, json_object_get(items));
        return (uint32_t) json_object_array_length(items);
}

void variables_hand_out(Variables *variables, NodeId for_each, NodeId child, uint32_t index) {
        const ForEachParams *params = definition_tree(variables->definition)->nodes[for_each].params;
        Scope *scope = variables_get_scope(variables, definition_scope(variables->definition, child));
        json_object *items, *item = NULL;

        if (variables_get_kept(variables, for_each, &items))
                item = json_object_array_get_idx(items, index);
        blackboard_set(scope->blackboard, params->as, json_object_get(item));
        if (params->index)
                blackboard_set(scope->blackboard, params->index, json_object_new_int64(index));
        scope->element = index;
        variables_begin_scope(scope);
}

json_object *variables_element(const Variables *variables, NodeId for_each, NodeId child, uint32_t *ret_index,
                               uint32_t *ret_n) {
        json_object *items = NULL;

        *ret_index = variables->scopes[definition_scope(variables->definition, child)].element;
        *ret_n = variables_get_kept(variables, for_each, &items) ? (uint32_t) json_object_array_length(items) : 0;
        return *ret_n > 0 ? json_object_array_get_idx(items, *ret_index) : NULL;
}
