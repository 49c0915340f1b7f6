/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stores which autostart trees were started in this boot, as a JSON array of names. */

#include <json-c/json_object.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "runtime/autostarts.h"

#define FILE_NAME "autostarted"

struct Autostarts {
        char *directory;
        GHashTable *trees; /* a set of names */
};

Autostarts *autostarts_new(const char *directory) {
        Autostarts *autostarts = g_new(Autostarts, 1);
        g_autoptr(json_object) known = boot_file_read(directory, FILE_NAME);

        autostarts->directory = g_strdup(directory);
        autostarts->trees = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        if (json_object_is_type(known, json_type_array))
                for (size_t i = 0; i < json_object_array_length(known); i++)
                        g_hash_table_add(autostarts->trees,
                                         g_strdup(json_object_get_string(json_object_array_get_idx(known, i))));

        return autostarts;
}

void autostarts_free(Autostarts *autostarts) {
        if (!autostarts)
                return;

        g_hash_table_unref(autostarts->trees);
        g_free(autostarts->directory);
        g_free(autostarts);
}

static void save(const Autostarts *autostarts) {
        json_object *trees = json_object_new_array();
        GHashTableIter iter;
        void *tree;

        g_hash_table_iter_init(&iter, autostarts->trees);
        while (g_hash_table_iter_next(&iter, &tree, NULL))
                json_object_array_add(trees, json_object_new_string(tree));

        boot_file_write(autostarts->directory, FILE_NAME, trees);
}

bool autostarts_has(const Autostarts *autostarts, const char *tree) {
        return g_hash_table_contains(autostarts->trees, tree);
}

void autostarts_add(Autostarts *autostarts, const char *tree) {
        if (g_hash_table_add(autostarts->trees, g_strdup(tree)))
                save(autostarts);
}

void autostarts_remove(Autostarts *autostarts, const char *tree) {
        if (g_hash_table_remove(autostarts->trees, tree))
                save(autostarts);
}

void autostarts_clear(Autostarts *autostarts) {
        if (g_hash_table_size(autostarts->trees) == 0)
                return;

        g_hash_table_remove_all(autostarts->trees);
        save(autostarts);
}
