/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Remembers the autostart of each tree by the id of its run, in a file of the runtime directory. Later runs of the
 * tree, for example after a failure, take its place. What becomes of that run decides: nothing is noted when btd stops,
 * so it does not matter how btd ends. Autostarts that wait are in the file, too: the next btd may not find the file of
 * the tree for a moment.
 */

#include <json-c/linkhash.h>
#include <string.h>

#include "basic/boot-file.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/log.h"
#include "runtime/autostarts.h"

#define FILE_NAME "autostarted"

struct Autostarts {
        BootFile *file;
        const AutostartsCallbacks *callbacks;
        void *userdata;
        GHashTable *done;    /* name of a tree -> id of its last run, "": a user has halted it before it had one */
        GHashTable *waiting; /* name of a tree -> why it waits, "": for a moment */
        bool unsaved;
};

Autostarts *autostarts_new(Timers *timers, const char *directory, const AutostartsCallbacks *callbacks,
                           void *userdata) {
        Autostarts *autostarts = g_new(Autostarts, 1);

        *autostarts = (Autostarts){
                .file = boot_file_new(timers, directory, FILE_NAME),
                .callbacks = callbacks,
                .userdata = userdata,
                .done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        };
        return autostarts;
}

void autostarts_free(Autostarts *autostarts) {
        if (!autostarts)
                return;

        boot_file_free(autostarts->file);
        g_hash_table_unref(autostarts->done);
        g_hash_table_unref(autostarts->waiting);
        g_free(autostarts);
}

void autostarts_recover(Autostarts *autostarts) {
        g_autoptr(json_object) stored = boot_file_open(autostarts->file);

        if (!json_object_is_type(stored, json_type_object))
                return;

        json_object_object_foreach(stored, tree, run)
                g_hash_table_insert(run ? autostarts->done : autostarts->waiting, g_strdup(tree),
                                    g_strdup(run ? json_object_get_string(run) : ""));
}

static void save(Autostarts *autostarts) {
        json_object *stored = json_object_new_object();

        TABLE_PAIRS(const char, it, autostarts->done)
                json_object_object_add(stored, it.key, json_object_new_string(it.value));
        TABLE_PAIRS(const char, it, autostarts->waiting)
                json_object_object_add(stored, it.key, NULL);

        autostarts->unsaved = false;
        boot_file_store(autostarts->file, stored);
}

static void changed(const Autostarts *autostarts, const char *tree) {
        autostarts->callbacks->changed(tree, autostarts->userdata);
}

/* True: it has waited. */
static bool end_wait(Autostarts *autostarts, const char *tree) {
        const char *why = g_hash_table_lookup(autostarts->waiting, tree);
        bool described = why && *why;

        if (!why)
                return false;

        g_hash_table_remove(autostarts->waiting, tree);
        if (described)
                changed(autostarts, tree);
        return true;
}

void autostarts_want(Autostarts *autostarts, const char *tree) {
        if (!autostarts_know(autostarts, tree)) {
                g_hash_table_insert(autostarts->waiting, g_strdup(tree), g_strdup(""));
                autostarts->unsaved = true;
        }
}

void autostarts_unwant(Autostarts *autostarts, const char *tree) {
        autostarts->unsaved |= end_wait(autostarts, tree);
}

bool autostarts_begun(Autostarts *autostarts, const char *tree, const char *run, bool wanted) {
        bool waited = end_wait(autostarts, tree);

        if (!waited && !wanted && !g_hash_table_contains(autostarts->done, tree))
                return false;

        g_hash_table_insert(autostarts->done, g_strdup(tree), g_strdup(run));
        save(autostarts);
        return waited;
}

bool autostarts_drop(Autostarts *autostarts, const char *tree) {
        return g_hash_table_contains(autostarts->waiting, tree) && autostarts_begun(autostarts, tree, "", true);
}

/* The autostart is noted when the run record exists, so that it cannot be lost. */
static void start(Autostarts *autostarts, const char *tree) {
        const char *run;
        char *why = NULL;

        if (autostarts->callbacks->start(tree, &run, &why, autostarts->userdata)) {
                (void) autostarts_begun(autostarts, tree, run, true);
                return;
        }

        why = why ?: g_strdup("");
        if (g_strcmp0(why, g_hash_table_lookup(autostarts->waiting, tree)) == 0) {
                g_free(why);
                return;
        }

        g_hash_table_insert(autostarts->waiting, g_strdup(tree), why);
        changed(autostarts, tree);
        if (*why)
                log_message(LOG_WARNING, &(LogSubject){ .tree = tree }, "not started yet: %s", why);
}

void autostarts_continue(Autostarts *autostarts) {
        g_autoptr(GList) trees = g_hash_table_get_keys(autostarts->waiting);

        if (autostarts->unsaved)
                save(autostarts);

        trees = g_list_sort(trees, (GCompareFunc) strcmp);
        for (GList *link = trees; link; link = link->next)
                link->data = g_strdup(link->data); /* a start can remove others */
        for (GList *link = trees; link; link = link->next) {
                g_autofree char *tree = link->data;

                if (g_hash_table_contains(autostarts->waiting, tree))
                        start(autostarts, tree);
        }
}

bool autostarts_wait(const Autostarts *autostarts) {
        return g_hash_table_size(autostarts->waiting) > 0;
}

bool autostarts_know(const Autostarts *autostarts, const char *tree) {
        return g_hash_table_contains(autostarts->done, tree) || g_hash_table_contains(autostarts->waiting, tree);
}

void autostarts_list(const Autostarts *autostarts, GPtrArray *names) {
        TABLE_PAIRS(const char, it, autostarts->waiting)
                if (*it.value)
                        g_ptr_array_add(names, g_strdup(it.key));
}

bool autostarts_are_due(const Autostarts *autostarts) {
        void *why;

        TABLE_FOREACH(why, autostarts->waiting)
                if (*(const char *) why == '\0')
                        return true;

        return false;
}

void autostarts_begin_anew(Autostarts *autostarts) {
        g_autoptr(GPtrArray) described = g_ptr_array_new_with_free_func(g_free);

        if (g_hash_table_size(autostarts->done) + g_hash_table_size(autostarts->waiting) == 0)
                return;

        autostarts_list(autostarts, described);
        g_hash_table_remove_all(autostarts->done);
        g_hash_table_remove_all(autostarts->waiting);
        save(autostarts);
        for (unsigned i = 0; i < described->len; i++)
                changed(autostarts, described->pdata[i]);
}

void autostarts_finished(Autostarts *autostarts, const Run *run, bool again) {
        const char *known = g_hash_table_lookup(autostarts->done, run_tree(run));

        if (!again || !known || !g_str_equal(known, run_id(run)))
                return;

        g_hash_table_remove(autostarts->done, run_tree(run));
        g_hash_table_insert(autostarts->waiting, g_strdup(run_tree(run)), g_strdup(""));
        save(autostarts);
}

char *autostarts_describe(const Autostarts *autostarts, const char *tree) {
        const char *why = g_hash_table_lookup(autostarts->waiting, tree);

        return why && *why ? g_strdup_printf("autostart waits: %s", why) : NULL;
}
