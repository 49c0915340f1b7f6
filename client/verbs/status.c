/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl status: shows an overview of btd, or draws a run or a tree. */

#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/foreach.h"
#include "client/bus/target.h"
#include "client/recording/record-files.h"
#include "client/verbs/replay.h"
#include "client/verbs/verbs.h"
#include "client/view/run-view.h"
#include "client/view/style.h"

static void append_diagnostics(const Output *output, GString *text, const TreeInfo *tree) {
        g_autoptr(GString) line = g_string_new(NULL);

        for (char **diagnostic = tree->diagnostics; *diagnostic; diagnostic++) {
                output_append(output, line, STYLE_YELLOW, *diagnostic);
                output_end_line(output, text, line);
        }
}

/* "tries (int, default 3): Attempts until it fails". */
static char *describe_declaration(json_object *input) {
        json_object *value = NULL, *name = json_object_object_get(input, "name"),
                    *type = json_object_object_get(input, "type"),
                    *description = json_object_object_get(input, "description");
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "%s (%s", json_object_get_string(name), json_object_get_string(type));
        if (json_object_object_get_ex(input, "long_default", &value)) {
                g_string_append_printf(text, ", default %s", json_object_get_string(value));
        } else if (json_object_object_get_ex(input, "default", &value)) {
                const char *json =
                        json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
                g_autofree char *shown = excerpt(json, strlen(json));

                g_string_append_printf(text, ", default %s", shown);
        }
        g_string_append_c(text, ')');
        if (description)
                g_string_append_printf(text, ": %s", json_object_get_string(description));

        return g_string_free(text, FALSE);
}

static void append_declarations(const Output *output, GString *text, const char *label, json_object *declarations) {
        for (size_t i = 0; i < json_object_array_length(declarations); i++) {
                g_autofree char *value = describe_declaration(json_object_array_get_idx(declarations, i));

                run_view_append_field(output, text, i == 0 ? label : "", value);
        }
}

static void append_tree_header(const Output *output, GString *text, const TreeInfo *tree, const GPtrArray *past) {
        g_autoptr(GString) line = g_string_new(NULL);
        const RunInfo *last = past->len > 0 ? g_ptr_array_index(past, past->len - 1) : NULL;
        g_autofree char *runs = NULL;

        style_append_event(output, line, tree->name, tree->state, 0, tree->waiting);
        output_end_line(output, text, line);

        if (*tree->description)
                run_view_append_field(output, text, "About", tree->description);
        if (*tree->source)
                run_view_append_field(output, text, "File", tree->source);
        run_view_append_field(output, text, "Autostart", tree_info_autostart(tree));
        append_declarations(output, text, "Inputs", tree->inputs);
        append_declarations(output, text, "Outputs", tree->outputs);
        /* After a restart of btd, runs that had finished before are known only from their run records. */
        if (last)
                runs = g_strdup_printf("none now; the last was %s: %s, see 'btctl show %s'", last->id, last->status,
                                       last->id);
        run_view_append_field(output, text, "Runs", runs ?: "none");
        append_diagnostics(output, text, tree);
}

static int show_run(Client *client, RunInfo *run) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(json_object) chain = NULL;
        g_autoptr(GPtrArray) nodes = NULL, trees = NULL;
        const TreeInfo *tree;
        const NodeInfo *root;
        const char *waiting;
        json_object *json;
        int status;

        status = run_info_complete(client, run);
        if (status == EXIT_SUCCESS)
                status = node_info_of_run(client, run->path, &nodes);
        if (status != EXIT_SUCCESS)
                return status;

        /* Takes the duration from the root, because the clock may have been set since the start. A halting run
         * continues after its root has ended. */
        root = g_ptr_array_index(nodes, 0);
        if (strcmp(root->status, "running") == 0)
                run->as_of = root->since + root->duration;

        status = cause_chain_get(client, run->path, &chain);
        if (status == EXIT_SUCCESS)
                status = tree_info_list(client, &trees);
        if (status != EXIT_SUCCESS)
                return status;

        /* Another run of the tree can wait while this one is listed. A tree without a file is only in the list. */
        tree = tree_info_find(trees, run->tree);
        waiting = tree ? tree->waiting : "";

        if (client->output.json) {
                status = node_info_get_causes(client, run->path, nodes);
                if (status != EXIT_SUCCESS)
                        return status;
                json = run_view_to_json(client, run, chain, nodes);
                json_object_object_add(json, "need_reload",
                                       json_object_new_boolean(tree_info_needs_reload(client, run->tree)));
                json_object_object_add(json, "waiting", json_object_new_string(waiting));
                output_print_json(json);
                return EXIT_SUCCESS;
        }

        run_view_append(client, text, run, chain, nodes);
        if (*waiting)
                g_string_append_c(text, '\n');
        run_view_append_wait(&client->output, text, run->tree, waiting);
        fputs(text->str, stdout);
        tree_info_warn(client, run->tree);

        return EXIT_SUCCESS;
}

/* A tree that has never loaded has no nodes. */
static int show_tree(Client *client, TreeInfo *tree) {
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GPtrArray) nodes = node_info_array_new(), past = NULL;
        int status;

        status = tree_info_complete(client, tree);
        if (status != EXIT_SUCCESS)
                return status;
        tree->need_reload = tree_info_needs_reload(client, tree->name);

        if (strcmp(tree->state, "failed") != 0 && *tree->path) {
                g_clear_pointer(&nodes, g_ptr_array_unref);
                status = node_info_of_tree(client, tree->path, &nodes);
                if (status != EXIT_SUCCESS)
                        return status;
        }

        if (client->output.json) {
                json_object *json = tree_info_to_json(tree);

                json_object_object_add(json, "nodes", run_view_nodes_to_json(nodes));
                output_print_json(json);
                return EXIT_SUCCESS;
        }

        status = run_info_list_past(client, tree->name, &past);
        if (status != EXIT_SUCCESS)
                return status;

        append_tree_header(&client->output, text, tree, past);
        if (nodes->len > 0)
                g_string_append_c(text, '\n');
        tree_view_append(&client->output, text, nodes);
        fputs(text->str, stdout);
        if (tree->need_reload)
                tree_info_warn(client, tree->name);

        return EXIT_SUCCESS;
}

/* ret_past: btd does not list the run any more, but its run record is in the history. A tree has its own status. */
static int find_past(Client *client, const char *operand, bool *ret_past) {
        g_autoptr(GPtrArray) runs = NULL, past = NULL;
        int status;

        *ret_past = false;
        if (!target_is_run_id(operand) && !strchr(operand, '@'))
                return EXIT_SUCCESS;

        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS || target_choose_run(runs, operand))
                return status;

        status = run_info_list_past(client, NULL, &past);
        if (status == EXIT_SUCCESS)
                *ret_past = target_choose_run(past, operand);
        return status;
}

static int show_target(Client *client, const char *operand) {
        g_autoptr(RecordFiles) files = NULL;
        g_auto(Target) target = {};
        bool past;
        int status;

        status = record_files_find(client, &files);
        if (status != EXIT_SUCCESS)
                return status;
        if (files)
                return replay_print(client, operand, UINT64_MAX);

        status = find_past(client, operand, &past);
        if (status != EXIT_SUCCESS)
                return status;
        if (past)
                return replay_print(client, operand, UINT64_MAX);

        status = target_find(client, operand, &target);
        if (status != EXIT_SUCCESS)
                return status;

        return target.run ? show_run(client, target.run) : show_tree(client, target.tree);
}

typedef struct Overview {
        char *version, *mode, *status, *disk;
        char **tree_directories;
        GPtrArray *trees, *runs;
        bool need_reload; /* tree files have changed on the disk */
} Overview;

static void overview_clear(Overview *overview) {
        g_clear_pointer(&overview->version, g_free);
        g_clear_pointer(&overview->mode, g_free);
        g_clear_pointer(&overview->status, g_free);
        g_clear_pointer(&overview->disk, g_free);
        g_clear_pointer(&overview->tree_directories, g_strfreev);
        g_clear_pointer(&overview->trees, g_ptr_array_unref);
        g_clear_pointer(&overview->runs, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Overview, overview_clear)

static int get_overview(Client *client, Overview *overview) {
        const struct {
                const char *property;
                char **ret_text;
        } texts[] = {
                { "Version", &overview->version },
                { "Mode", &overview->mode },
                { "Status", &overview->status },
                { "Disk", &overview->disk },
        };
        int status;

        /* A btd that is starting answers this call when it has recovered the runs, so it comes first. */
        status = run_info_list(client, &overview->runs);
        for (size_t i = 0; status == EXIT_SUCCESS && i < G_N_ELEMENTS(texts); i++)
                status = client_get_string(client, BTD_PATH, BTD_MANAGER, texts[i].property, texts[i].ret_text);
        if (status == EXIT_SUCCESS)
                status = client_get_strings(client, BTD_PATH, BTD_MANAGER, "TreeDirectories",
                                            &overview->tree_directories);
        if (status == EXIT_SUCCESS)
                status = tree_info_list(client, &overview->trees);
        if (status != EXIT_SUCCESS)
                return status;

        overview->need_reload = tree_info_needs_reload(client, NULL);
        for (guint i = 0; i < overview->trees->len; i++) {
                TreeInfo *tree = g_ptr_array_index(overview->trees, i);

                status = tree_info_complete(client, tree);
                if (status != EXIT_SUCCESS)
                        return status;
                tree->need_reload = overview->need_reload && tree_info_needs_reload(client, tree->name);
        }

        return EXIT_SUCCESS;
}

static json_object *overview_to_json(const Overview *overview) {
        json_object *json = json_object_new_object(), *trees = json_object_new_array(), *runs = json_object_new_array();

        PTRS_FOREACH(const TreeInfo, tree, overview->trees)
                json_object_array_add(trees, tree_info_to_json(tree));
        PTRS_FOREACH(const RunInfo, run, overview->runs)
                json_object_array_add(runs, run_info_to_json(run));

        json_object_object_add(json, "version", json_object_new_string(overview->version));
        json_object_object_add(json, "mode", json_object_new_string(overview->mode));
        json_object_object_add(json, "status", json_object_new_string(overview->status));
        json_object_object_add(json, "need_reload", json_object_new_boolean(overview->need_reload));
        json_object_object_add(json, "disk", json_object_new_string(overview->disk));
        json_object_object_add(json, "tree_directories", output_strings_to_json(overview->tree_directories));
        json_object_object_add(json, "trees", trees);
        json_object_object_add(json, "runs", runs);

        return json;
}

static bool has_errors(const TreeInfo *tree) {
        return strcmp(tree->state, "broken") == 0 || strcmp(tree->state, "failed") == 0;
}

static void append_overview(const Output *output, GString *text, const Overview *overview) {
        g_autofree char *path = g_strjoinv(":", overview->tree_directories), *trees = NULL, *runs = NULL;
        g_autoptr(GString) line = g_string_new(NULL);
        guint n_trees = overview->trees->len, n_bad = 0, n_runs = overview->runs->len, n_over = 0;

        PTRS_FOREACH(const TreeInfo, tree, overview->trees)
                n_bad += has_errors(tree);
        PTRS_FOREACH(const RunInfo, run, overview->runs)
                n_over += run_info_has_finished(run);
        trees = n_bad > 0 ? g_strdup_printf("%u, %u of them with errors", n_trees, n_bad)
                          : g_strdup_printf("%u", n_trees);
        runs = g_strdup_printf("%u running, %u finished", n_runs - n_over, n_over);

        style_append_symbol(output, line, overview->status);
        output_appendf(output, line, STYLE_PLAIN, " btd %s, %s mode: ", overview->version, overview->mode);
        style_append_word(output, line, overview->status);
        output_end_line(output, text, line);

        run_view_append_field(output, text, "Path", path);
        run_view_append_field(output, text, "Trees", trees);
        run_view_append_field(output, text, "Runs", runs);
        if (*overview->disk)
                run_view_append_field(output, text, "Disk", overview->disk);

        if (overview->runs->len > 0)
                g_string_append_c(text, '\n');
        for (guint i = 0; i < overview->runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(overview->runs, i);
                g_autofree char *title = run_info_title(run);

                style_append_event(output, line, title, run->status, run_info_duration(run), run->cause);
                output_end_line(output, text, line);
        }
}

static int show_overview(Client *client) {
        const Output *output = &client->output;
        g_autoptr(GString) text = g_string_new(NULL), waits = g_string_new(NULL), troubles = g_string_new(NULL);
        g_auto(Overview) overview = {};
        int status;

        status = get_overview(client, &overview);
        if (status != EXIT_SUCCESS)
                return status;

        if (client->output.json) {
                output_print_json(overview_to_json(&overview));
                return EXIT_SUCCESS;
        }

        append_overview(output, text, &overview);
        run_view_append_waits(output, waits, overview.trees, overview.runs);
        if (waits->len > 0)
                g_string_append_printf(text, "\n%s", waits->str);
        PTRS_FOREACH(const TreeInfo, tree, overview.trees)
                if (has_errors(tree))
                        append_diagnostics(output, troubles, tree);
        if (troubles->len > 0)
                g_string_append_printf(text, "\n%s", troubles->str);
        fputs(text->str, stdout);
        tree_info_warn(client, NULL);

        return EXIT_SUCCESS;
}

int verb_status(Client *client, char **operands) {
        if (!operands[0] && options_has(&client->options, OPTION_DIRECTORY))
                return report_usage("--directory needs a run or a tree: btctl status --directory=DIR TREE|RUN");

        return operands[0] ? show_target(client, operands[0]) : show_overview(client);
}
