/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The variables of a run, by key. Values are never changed in place, only replaced, so they can be shared. */

#include <string.h>

#include "script/blackboard.h"

#define KEY_MAX 255u

struct Blackboard {
        GHashTable *variables; /* key (owned) -> json_object (owned, NULL is null) */
};

static void on_value_dropped(void *value) {
        json_object_put(value);
}

Blackboard *blackboard_new(void) {
        Blackboard *blackboard = g_new0(Blackboard, 1);

        blackboard->variables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, on_value_dropped);
        return blackboard;
}

void blackboard_free(Blackboard *blackboard) {
        if (!blackboard)
                return;

        g_hash_table_unref(blackboard->variables);
        g_free(blackboard);
}

void blackboard_set(Blackboard *blackboard, const char *key, json_object *value) {
        g_hash_table_replace(blackboard->variables, g_strdup(key), value);
}

bool blackboard_get(const Blackboard *blackboard, const char *key, json_object **ret_value) {
        void *value;

        if (!g_hash_table_lookup_extended(blackboard->variables, key, NULL, &value))
                return false;

        *ret_value = value;
        return true;
}

static int compare_keys(const void *a, const void *b) {
        return g_strcmp0(a, b);
}

json_object *blackboard_to_json(const Blackboard *blackboard) {
        g_autoptr(GList) keys = g_list_sort(g_hash_table_get_keys(blackboard->variables), compare_keys);
        json_object *object = json_object_new_object();

        for (GList *key = keys; key; key = key->next) {
                json_object *value = g_hash_table_lookup(blackboard->variables, key->data);

                json_object_object_add(object, key->data, json_object_get(value));
        }

        return object;
}

bool blackboard_key_valid(const char *key) {
        size_t length = 0;

        if (!g_ascii_isalpha(key[0]) && key[0] != '_')
                return false;

        for (; key[length]; length++)
                if (length >= KEY_MAX || !(g_ascii_isalnum(key[length]) || strchr("_-.", key[length])))
                        return false;

        return true;
}
