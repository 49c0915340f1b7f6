/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A copy of a list is made when its Loop begins, and replaced when that begins anew. */

#include "script/loop-lists.h"

struct LoopLists {
        GHashTable *by_loop; /* NodeId -> json_object */
};

static void put_list(void *list) {
        json_object_put(list);
}

LoopLists *loop_lists_new(void) {
        LoopLists *lists = g_new(LoopLists, 1);

        lists->by_loop = g_hash_table_new_full(NULL, NULL, NULL, put_list);
        return lists;
}

void loop_lists_free(LoopLists *lists) {
        if (!lists)
                return;

        g_hash_table_unref(lists->by_loop);
        g_free(lists);
}

static json_object *copy_list(const Blackboard *blackboard, const char *key) {
        json_object *list, *copy = NULL;

        if (blackboard_get(blackboard, key, &list) && json_object_is_type(list, json_type_array))
                json_object_deep_copy(list, &copy, NULL);

        return copy ?: json_object_new_array();
}

bool loop_lists_hand_out(LoopLists *lists, Blackboard *blackboard, NodeId loop, const char *key, const char *variable,
                         uint32_t index) {
        json_object *list;

        if (index == 0)
                g_hash_table_replace(lists->by_loop, GUINT_TO_POINTER(loop), copy_list(blackboard, key));

        list = g_hash_table_lookup(lists->by_loop, GUINT_TO_POINTER(loop));
        if (index >= json_object_array_length(list))
                return false;

        blackboard_set(blackboard, variable, json_object_get(json_object_array_get_idx(list, index)));
        return true;
}
