/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One small file a tree, "TREE.runs". A directory that cannot be written costs a warning, not the run. */

#include <stdbool.h>

#include "runtime/run-counter.h"

#include "basic/log.h"

struct RunCounter {
        char *directory;
        GHashTable *last; /* of tree: uint64_t */
        bool warned;
};

RunCounter *run_counter_new(const char *directory) {
        RunCounter *counter = g_new0(RunCounter, 1);

        counter->directory = g_strdup(directory);
        counter->last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return counter;
}

void run_counter_free(RunCounter *counter) {
        if (!counter)
                return;

        g_hash_table_unref(counter->last);
        g_free(counter->directory);
        g_free(counter);
}

static char *file_of(const RunCounter *counter, const char *tree) {
        g_autofree char *name = g_strconcat(tree, ".runs", NULL);

        return g_build_filename(counter->directory, name, NULL);
}

static uint64_t read_last(const RunCounter *counter, const char *tree) {
        g_autofree char *file = NULL, *text = NULL;

        if (!counter->directory)
                return 0;

        file = file_of(counter, tree);
        return g_file_get_contents(file, &text, NULL, NULL) ? g_ascii_strtoull(text, NULL, 10) : 0;
}

static void write_last(RunCounter *counter, const char *tree, uint64_t last) {
        g_autofree char *file = NULL, *text = NULL;
        g_autoptr(GError) error = NULL;

        if (!counter->directory)
                return;

        (void) g_mkdir_with_parents(counter->directory, 0700);
        file = file_of(counter, tree);
        text = g_strdup_printf("%" G_GUINT64_FORMAT "\n", last);
        if (g_file_set_contents(file, text, -1, &error) || counter->warned)
                return;

        counter->warned = true;
        log_warning("Numbers of runs may be used again after a restart: %s", error->message);
}

uint64_t run_counter_next(RunCounter *counter, const char *tree) {
        uint64_t *last = g_hash_table_lookup(counter->last, tree);

        if (!last) {
                last = g_new(uint64_t, 1);
                *last = read_last(counter, tree);
                g_hash_table_insert(counter->last, g_strdup(tree), last);
        }

        (*last)++;
        write_last(counter, tree, *last);
        return *last;
}
