/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl list: lists the trees and their runs, also trees that have runs but no file, and what trees wait for. For a
 * tree without runs, lists the last one in the history. */

#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/recording/record-files.h"
#include "client/verbs/verbs.h"
#include "client/view/run-view.h"
#include "client/view/style.h"

/* How many runs of a tree are listed. */
#define RUNS_MAX 4u

/* Lists the running or the finished runs. If there are too many, the rest is only counted. */
static void append_runs(GString *cell, const Output *output, const char *tree, const GPtrArray *runs, bool over,
                        unsigned *n_listed) {
        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);
                g_autofree char *title = NULL;

                if (strcmp(run->tree, tree) != 0 || run_info_has_finished(run) != over || (*n_listed)++ >= RUNS_MAX)
                        continue;
                title = run_info_title(run);
                if (cell->len > 0)
                        g_string_append(cell, ", ");
                output_appendf(output, cell, STYLE_PLAIN, "%s ", title);
                style_append_word(output, cell, run->status);
        }
}

static void add_runs(Columns *columns, const Output *output, const char *tree, const GPtrArray *runs) {
        g_autoptr(GString) cell = g_string_new(NULL);
        unsigned n_listed = 0;

        append_runs(cell, output, tree, runs, false, &n_listed);
        append_runs(cell, output, tree, runs, true, &n_listed);
        if (n_listed > RUNS_MAX)
                g_string_append_printf(cell, ", %u more", n_listed - RUNS_MAX);

        columns_add(columns, cell->len > 0 ? cell->str : "-");
}

static void print_table(const Output *output, const GPtrArray *trees, const GPtrArray *runs) {
        g_autoptr(Columns) columns = columns_new(5);

        for (const char *const *title =
                     (const char *const[]){ "TREE", "STATE", "AUTOSTART", "RUNS", "DESCRIPTION", NULL };
             *title; title++)
                columns_add_styled(columns, output, STYLE_BOLD, *title);

        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);
                g_autoptr(GString) state = g_string_new(NULL);

                style_append_word(output, state, tree->state);
                columns_add_styled(columns, output, STYLE_PLAIN, tree->name);
                columns_add(columns, state->str);
                columns_add_styled(columns, output, STYLE_PLAIN, tree_info_autostart(tree));
                add_runs(columns, output, tree->name, runs);
                columns_add_styled(columns, output, STYLE_PLAIN, tree->description);
        }

        columns_print(columns, output);
}

static json_object *runs_of_tree_to_json(const char *tree, const GPtrArray *runs) {
        json_object *own = json_object_new_array();

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (strcmp(run->tree, tree) == 0)
                        json_object_array_add(own, run_info_to_json(run));
        }

        return own;
}

/* Puts the runs of each tree into its object. */
static void print_json(const GPtrArray *trees, const GPtrArray *runs) {
        json_object *json = json_object_new_array();

        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);
                json_object *entry = tree_info_to_json(tree);

                json_object_object_add(entry, "runs", runs_of_tree_to_json(tree->name, runs));
                json_object_array_add(json, entry);
        }

        output_print_json(json);
}

/* Adds trees that have runs but no file: it was deleted, or the tree was started from text. */
static void add_fileless(GPtrArray *trees, const GPtrArray *runs) {
        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);
                TreeInfo *tree;

                if (run_info_has_finished(run) || tree_info_find(trees, run->tree))
                        continue;

                tree = g_new(TreeInfo, 1);
                *tree = (TreeInfo){
                        .name = g_strdup(run->tree),
                        .path = g_strdup(""),
                        .description = g_strdup(""),
                        .file_state = g_strdup(""),
                        .state = g_strdup("no file"),
                        .waiting = g_strdup(""),
                };
                g_ptr_array_add(trees, tree);
        }
}

/* After a restart of btd, runs that had finished before are known only from their run records. */
static int add_past(Client *client, const GPtrArray *trees, GPtrArray *runs) {
        g_autoptr(GHashTable) without = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GPtrArray) past = NULL;
        int status;

        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);

                if (!target_choose_run(runs, tree->name))
                        g_hash_table_add(without, tree->name);
        }
        if (g_hash_table_size(without) == 0)
                return EXIT_SUCCESS;

        status = run_info_list_past(client, NULL, &past);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = past->len; i > 0; i--)
                if (g_hash_table_remove(without, ((const RunInfo *) g_ptr_array_index(past, i - 1))->tree))
                        g_ptr_array_add(runs, g_ptr_array_steal_index(past, i - 1));

        return EXIT_SUCCESS;
}

/* Lists the trees that have run records. Nothing else is known of a tree without btd. */
static void list_files(const Client *client, const RecordFiles *files) {
        g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify) run_info_free);
        g_autoptr(Columns) columns = columns_new(2);
        g_autoptr(json_object) json = json_object_new_array();
        g_autoptr(GTree) trees = g_tree_new((GCompareFunc) (void (*)(void)) g_strcmp0);

        record_files_tell(client, files);

        /* The newest run of each tree comes first; unfinished ones before all others. */
        for (int finished = 0; finished <= 1; finished++) {
                g_autoptr(GPtrArray) some = record_files_list(files, "", finished);

                for (guint i = some->len; i > 0; i--)
                        g_ptr_array_add(runs, g_ptr_array_steal_index(some, i - 1));
        }
        for (guint i = 0; i < runs->len; i++) {
                char *name = ((const RunInfo *) runs->pdata[i])->tree;

                g_tree_insert(trees, name, name);
        }

        columns_add_styled(columns, &client->output, STYLE_BOLD, "TREE");
        columns_add_styled(columns, &client->output, STYLE_BOLD, "RUNS");
        for (GTreeNode *node = g_tree_node_first(trees); node; node = g_tree_node_next(node)) {
                const char *name = g_tree_node_key(node);
                json_object *entry = json_object_new_object();

                json_object_object_add(entry, "name", json_object_new_string(name));
                json_object_object_add(entry, "runs", runs_of_tree_to_json(name, runs));
                json_object_array_add(json, entry);
                columns_add_styled(columns, &client->output, STYLE_PLAIN, name);
                add_runs(columns, &client->output, name, runs);
        }

        if (client->output.json)
                output_print_json(json_object_get(json));
        else if (runs->len > 0)
                columns_print(columns, &client->output);
        else
                client_say(client, "there are no run records");
}

static void warn_of_changes(Client *client, const GPtrArray *trees) {
        bool known = false;

        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);

                known |= tree->need_reload;
                if (tree->need_reload)
                        tree_info_warn(client, tree->name);
        }

        /* A file is new. */
        if (!known)
                tree_info_warn(client, NULL);
}

int verb_list(Client *client, char **operands) {
        g_autoptr(GPtrArray) trees = NULL, runs = NULL;
        g_autoptr(RecordFiles) files = NULL;
        bool changed;
        int status;

        status = record_files_find(client, &files);
        if (status != EXIT_SUCCESS)
                return status;
        if (files) {
                list_files(client, files);
                return EXIT_SUCCESS;
        }

        status = tree_info_list(client, &trees);
        if (status == EXIT_SUCCESS)
                status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        add_fileless(trees, runs);
        status = add_past(client, trees, runs);
        if (status != EXIT_SUCCESS)
                return status;

        changed = tree_info_needs_reload(client, NULL);
        for (guint i = 0; changed && i < trees->len; i++) {
                TreeInfo *tree = g_ptr_array_index(trees, i);

                tree->need_reload = tree_info_needs_reload(client, tree->name);
        }

        if (client->output.json) {
                print_json(trees, runs);
        } else if (trees->len > 0) {
                g_autoptr(GString) waits = g_string_new("\n");

                print_table(&client->output, trees, runs);
                run_view_append_waits(&client->output, waits, trees, runs);
                if (waits->len > 1)
                        fputs(waits->str, stdout);
        } else {
                client_say(client, "btd has no trees; 'btctl status' shows the directories that it reads");
        }
        if (changed)
                warn_of_changes(client, trees);

        return EXIT_SUCCESS;
}
