/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Saves and restores the state of the variables between two inputs, for snapshots. Changes count from the restore on,
 * and verdicts of while are not saved, because they are evaluated again. */

#include <json-c/linkhash.h>

#include "basic/cleanup.h"
#include "run/variables-state.h"

static gint compare_nodes(gconstpointer a, gconstpointer b) {
        NodeId x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);

        return (x > y) - (x < y);
}

static void add(json_object *json, unsigned key, json_object *value) {
        char name[16];

        g_snprintf(name, sizeof(name), "%u", key);
        json_object_object_add(json, name, value);
}

static json_object *scope_to_json(const Scope *scope) {
        json_object *json = json_object_new_object();

        json_object_object_add(json, "variables", blackboard_own_to_json(scope->blackboard));
        json_object_object_add(json, "active", json_object_new_boolean(scope->active));
        json_object_object_add(json, "element", json_object_new_int64(scope->element));
        return json;
}

/* True if the scope was only read, and is as if it had not been made. */
static bool is_untouched(const Scope *scope) {
        g_autoptr(json_object) own = blackboard_own_to_json(scope->blackboard);

        return !scope->active && scope->element == 0 && json_object_object_length(own) == 0;
}

/* Sorted by node, so that equal states give equal texts. */
static json_object *table_to_json(GHashTable *table) {
        json_object *json = json_object_new_object();
        g_autoptr(GList) nodes = table ? g_list_sort(g_hash_table_get_keys(table), compare_nodes) : NULL;

        for (const GList *link = nodes; link; link = link->next)
                add(json, GPOINTER_TO_UINT(link->data), json_object_get(g_hash_table_lookup(table, link->data)));

        return json;
}

json_object *variables_image(const Variables *variables) {
        json_object *json = json_object_new_object(), *scopes = json_object_new_object();

        for (unsigned i = 0; i < variables->n_scopes; i++)
                if (variables->scopes[i].blackboard && !is_untouched(&variables->scopes[i]))
                        add(scopes, i, scope_to_json(&variables->scopes[i]));

        json_object_object_add(json, "scopes", scopes);
        json_object_object_add(json, "kept", table_to_json(variables->kept));
        json_object_object_add(json, "seen", table_to_json(variables->seen));
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
        json_object *own = NULL, *active = NULL, *element = NULL;
        Scope *scope = variables_get_scope(variables, index);

        if (!json_object_object_get_ex(json, "variables", &own) || !json_object_is_type(own, json_type_object) ||
            !json_object_object_get_ex(json, "active", &active) ||
            !json_object_object_get_ex(json, "element", &element))
                return false;

        blackboard_reset(scope->blackboard, own);
        scope->active = json_object_get_boolean(active);
        scope->element = (uint32_t) json_object_get_int64(element);
        return true;
}

static json_object *member(json_object *json, const char *name) {
        json_object *value = NULL;

        json_object_object_get_ex(json, name, &value);
        return json_object_is_type(value, json_type_object) ? value : NULL;
}

/* The value of a ForEach must be a list. */
static bool may_keep(const Tree *tree, NodeId node, json_object *value) {
        return !(tree->nodes[node].type->flags & TYPE_FOR_EACH) || json_object_is_type(value, json_type_array);
}

static bool restore_tables(Variables *variables, json_object *kept, json_object *seen) {
        const Tree *tree = definition_tree(variables->definition);
        NodeId node;

        json_object_object_foreach(kept, name, value) {
                if (!parse_key(name, tree->n_nodes, &node) || !may_keep(tree, node, value))
                        return false;
                variables_keep(variables, node, json_object_get(value));
        }
        json_object_object_foreach(seen, key, values) {
                if (!parse_key(key, tree->n_nodes, &node))
                        return false;
                variables_note_seen(variables, node, json_object_get(values));
        }

        return true;
}

bool variables_restore(Variables *variables, json_object *json, Cause *error) {
        json_object *scopes = member(json, "scopes"), *kept = member(json, "kept"), *seen = member(json, "seen");
        unsigned index;

        if (!scopes || !kept || !seen)
                return false;

        json_object_object_foreach(scopes, name, scope) if (!parse_key(name, variables->n_scopes, &index) ||
                                                            !scope_from_json(variables, index, scope)) return false;
        for (unsigned i = 0; i < variables->n_scopes; i++)
                if (variables->scopes[i].blackboard)
                        variables->scopes[i].seen = blackboard_version(variables->scopes[i].blackboard);

        cause_unref(variables->error);
        variables->error = error ? cause_ref(error) : NULL;
        return restore_tables(variables, kept, seen);
}
