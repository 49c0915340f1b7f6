/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Starts the autostart trees, and stores which of them were started in this boot, as a JSON array of names in a file of
 * the runtime directory. So a restarted btd does not start trees again that have already finished.
 */

#include <json-c/json_object.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "runtime/manager-state.h"

#define FILE_NAME "autostarted"

struct Autostarts {
        char *directory;
        GHashTable *trees;  /* a set of names */
        GPtrArray *waiting; /* names of trees still to be started; NULL: none */
};

Autostarts *autostarts_new(const char *directory) {
        Autostarts *autostarts = g_new0(Autostarts, 1);
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
        if (autostarts->waiting)
                g_ptr_array_unref(autostarts->waiting);
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

/* False: try again later. */
static bool autostart(Manager *manager, const char *tree) {
        g_autofree char *error = NULL;
        Run *run;
        int r = 0;

        /* Note the autostart only after the run record exists, so that it cannot be lost. A run that exists already was
         * recovered from a btd that was killed before it noted the autostart. */
        if (!runs_last(manager->runs, tree, ""))
                r = manager_start(manager, tree, "", NULL, "autostart", &run, &error);
        if (r == MANAGER_NOT_YET)
                return false;
        if (r < 0)
                log_message(LOG_ERR, &(LogSubject){ .tree = tree }, "not started: %s", error);

        if (g_hash_table_add(manager->autostarts->trees, g_strdup(tree)))
                save(manager->autostarts);
        return true;
}

void manager_continue_autostart(Manager *manager) {
        GPtrArray *trees = manager->autostarts->waiting;
        unsigned n_left = 0;

        if (!trees || manager->stopping || manager->abandoned)
                return;

        for (unsigned i = 0; i < trees->len; i++)
                if (!autostart(manager, trees->pdata[i])) {
                        void *left = trees->pdata[i];

                        trees->pdata[i] = trees->pdata[n_left];
                        trees->pdata[n_left++] = left;
                }

        g_ptr_array_set_size(trees, (int) n_left);
        if (n_left > 0)
                return;

        g_clear_pointer(&manager->autostarts->waiting, g_ptr_array_unref);
        TELL(manager, autostarted);
}

void manager_autostart(Manager *manager) {
        g_autoptr(GPtrArray) entries = library_list(manager->library);

        manager->autostarts->waiting = g_ptr_array_new_with_free_func(g_free);
        for (unsigned i = 0; i < entries->len; i++) {
                const LibraryEntry *entry = entries->pdata[i];

                if (entry->definition && definition_autostart(entry->definition) &&
                    !g_hash_table_contains(manager->autostarts->trees, entry->name))
                        g_ptr_array_add(manager->autostarts->waiting, g_strdup(entry->name));
        }

        manager_continue_autostart(manager);
}
