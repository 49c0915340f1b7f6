/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl list: lists the trees and their runs, also trees that have runs but no file. */

#include <string.h>

#include "client/bus/run-info.h"
#include "client/bus/tree-info.h"
#include "client/verbs/verbs.h"
#include "client/view/columns.h"
#include "client/view/style.h"

/* How many runs of a tree are listed. */
#define RUNS_MAX 4u

static bool is_listed(const RunInfo *run, const char *tree, bool over) {
        return strcmp(run->tree, tree) == 0 && run_info_has_finished(run) == over;
}

/* Lists the running or the finished runs. If there are too many, the rest is only counted. */
static void append_runs(GString *cell, const Output *output, const char *tree, const GPtrArray *runs, bool over,
                        unsigned *n_listed) {
        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);
                g_autofree char *title = run_info_title(run);

                if (!is_listed(run, tree, over) || (*n_listed)++ >= RUNS_MAX)
                        continue;
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
                columns_add_styled(columns, output, STYLE_PLAIN, tree->autostart ? "yes" : "no");
                add_runs(columns, output, tree->name, runs);
                columns_add_styled(columns, output, STYLE_PLAIN, tree->description);
        }

        columns_print(columns, output);
}

/* Puts the runs of each tree into its object. */
static void print_json(const GPtrArray *trees, const GPtrArray *runs) {
        json_object *json = json_object_new_array();

        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);
                json_object *entry = tree_info_to_json(tree), *own = json_object_new_array();

                for (guint j = 0; j < runs->len; j++) {
                        const RunInfo *run = g_ptr_array_index(runs, j);

                        if (strcmp(run->tree, tree->name) == 0)
                                json_object_array_add(own, run_info_to_json(run));
                }
                json_object_object_add(entry, "runs", own);
                json_object_array_add(json, entry);
        }

        output_print_json(json);
}

static bool has_tree(const GPtrArray *trees, const char *name) {
        for (guint i = 0; i < trees->len; i++)
                if (strcmp(((const TreeInfo *) g_ptr_array_index(trees, i))->name, name) == 0)
                        return true;

        return false;
}

/* Adds trees that have runs but no file: it was deleted, or the tree was started from text. */
static void add_fileless(GPtrArray *trees, const GPtrArray *runs) {
        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);
                TreeInfo *tree;

                if (run_info_has_finished(run) || has_tree(trees, run->tree))
                        continue;

                tree = g_new(TreeInfo, 1);
                *tree = (TreeInfo){
                        .name = g_strdup(run->tree),
                        .description = g_strdup(""),
                        .state = g_strdup("no file"),
                };
                g_ptr_array_add(trees, tree);
        }
}

int verb_list(Client *client, char **operands) {
        g_autoptr(GPtrArray) trees = NULL, runs = NULL;
        int status;

        status = tree_info_list(client, &trees);
        if (status != EXIT_SUCCESS)
                return status;

        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        add_fileless(trees, runs);
        if (client->output.json)
                print_json(trees, runs);
        else if (trees->len > 0)
                print_table(&client->output, trees, runs);
        else
                client_say(client, "btd has no trees; 'btctl status' shows the directories that it reads");

        return EXIT_SUCCESS;
}
