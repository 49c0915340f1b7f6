/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * btctl graph and plot: draw a tree as a picture, from a file, from btd, or from a run record; and the timeline of a
 * run.
 *
 * What changes in a run comes from its nodes, as for status and replay; guards and other attributes come from the tree,
 * which is loaded here.
 */

#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/plot/graph.h"
#include "client/plot/plot.h"
#include "client/verbs/replay.h"
#include "client/verbs/verbs.h"
#include "client/view/text.h"
#include "definition/sources.h"
#include "record/record-store.h"
#include "script/scripts.h"

static const struct {
        const char *name;
        GraphFormat draw;
} formats[] = {
        { "svg", graph_svg },
        { "html", graph_html },
        { "dot", graph_dot },
        { "mermaid", graph_mermaid },
};

static void add_note(GPtrArray *notes, const char *key, const char *value) {
        if (value)
                g_ptr_array_add(notes, g_strdup_printf("%s: %s", key, value));
}

static GPtrArray *notes_of(const Definition *definition, NodeId node) {
        static const char *const guards[] = {
                [GUARD_FAIL_IF] = "fail_if",
                [GUARD_SUCCESS_IF] = "success_if",
                [GUARD_SKIP_IF] = "skip_if",
                [GUARD_WHILE] = "while",
        };
        static const char *const hooks[HOOK_MAX_] = {
                [HOOK_SUCCESS] = "on_success",
                [HOOK_FAILURE] = "on_failure",
                [HOOK_HALTED] = "on_halted",
                [HOOK_ALWAYS] = "always",
        };
        GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

        for (unsigned i = 0; i < G_N_ELEMENTS(guards); i++) {
                const Script *script = guards[i] ? definition_guard(definition, node, i) : NULL;

                add_note(notes, guards[i], script ? script_code(script) : NULL);
        }
        for (unsigned i = 0; i < HOOK_MAX_; i++) {
                const Script *script = hooks[i] ? definition_hook(definition, node, i) : NULL;

                add_note(notes, hooks[i], script ? script_code(script) : NULL);
        }
        add_note(notes, "lock", definition_lock(definition, node));
        if (definition_tree(definition)->nodes[node].flags & NODE_UNINTERRUPTIBLE)
                add_note(notes, "uninterruptible", "true");
        if (definition_makes_ready(definition, node))
                add_note(notes, "ready", "true");

        return notes;
}

/* definition NULL: the attributes of the nodes are not known. */
static void print_graph(GraphFormat draw, Graph *graph, const Definition *definition, const GPtrArray *nodes) {
        g_autofree char *title = text_clean(graph->title, false), *subtitle = text_clean(graph->subtitle, false),
                        *text = NULL;

        graph->title = title;
        graph->subtitle = subtitle;
        graph->n_nodes = nodes->len;
        graph->nodes = g_new(GraphNode, nodes->len);
        for (guint i = 0; i < nodes->len; i++)
                graph->nodes[i] = (GraphNode){ nodes->pdata[i], definition ? notes_of(definition, i) : NULL };

        text = draw(graph);
        fputs(text, stdout);
        for (guint i = 0; i < nodes->len; i++)
                g_clear_pointer(&graph->nodes[i].notes, g_ptr_array_unref);
        g_free(graph->nodes);
}

static int draw_file(const Client *client, const char *file, GraphFormat draw) {
        g_autoptr(Diagnostics) diagnostics = diagnostics_new(file);
        g_autoptr(Definition) definition = NULL;
        g_autoptr(GPtrArray) nodes = NULL;
        g_autofree char *name = g_path_get_basename(file);
        bool valid = tree_load(client, file, diagnostics, &definition) >= 0;
        Graph graph = { .title = name };

        report_diagnostics(diagnostics);
        if (!valid)
                return EXIT_FAILURE;
        if (!definition_tree(definition))
                return report_error("%s: there is no root to draw, only trees for other files", file);

        if (g_str_equal(file, "-"))
                graph.title = tree_node_name(definition_tree(definition), 0);
        graph.subtitle = definition_header(definition)->description ?: "";
        nodes = recording_idle_nodes(definition);
        print_graph(draw, &graph, definition, nodes);
        return EXIT_SUCCESS;
}

static int draw_tree(Client *client, TreeInfo *tree, GraphFormat draw) {
        g_autoptr(Definition) definition = NULL;
        g_autoptr(Diagnostics) diagnostics = NULL;
        g_autoptr(GPtrArray) nodes = NULL;
        g_autofree char *text = NULL;
        Graph graph = {};
        int status;

        if (!*tree->path)
                return target_report_no_tree(client, tree->name);

        status = tree_info_complete(client, tree);
        if (status == EXIT_SUCCESS)
                status = node_info_of_tree(client, tree->path, &nodes);
        if (status == EXIT_SUCCESS)
                status = tree_info_text(client, tree->path, &text);
        if (status != EXIT_SUCCESS)
                return status;

        /* The text that btd has loaded may not be that of the file any more. The guards are not known if files that it
         * uses have changed, or are not on this machine. */
        diagnostics = diagnostics_new(tree->source);
        if (tree_load_text(client, tree->source, text, diagnostics, &definition) < 0 || !definition_tree(definition) ||
            definition_tree(definition)->n_nodes != nodes->len)
                g_clear_pointer(&definition, definition_unref);

        if (!definition && !client->output.quiet)
                (void) report_error("guards are not drawn, because files of tree '%s' have changed or are not on "
                                    "this machine",
                                    tree->name);
        graph.title = tree->name;
        graph.subtitle = tree->description;
        print_graph(draw, &graph, definition, nodes);
        tree_info_warn(client, tree->name);
        return EXIT_SUCCESS;
}

/* A running leaf says only to btd what it waits for. */
static int get_live_nodes(Client *client, const char *id, GPtrArray **nodes) {
        g_autoptr(GPtrArray) runs = NULL, live = NULL;
        int status;

        status = run_info_list(client, &runs);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len && !live; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (g_str_equal(run->id, id))
                        status = node_info_of_run(client, run->path, &live);
        }

        if (status == EXIT_SUCCESS && live && live->len == (*nodes)->len) {
                g_ptr_array_unref(*nodes);
                *nodes = g_steal_pointer(&live);
        }
        return status;
}

static int draw_run(Client *client, const char *operand, GraphFormat draw) {
        g_autoptr(Recording) recording = NULL;
        g_autoptr(GPtrArray) nodes = NULL;
        g_autoptr(RunInfo) run = NULL;
        g_autofree char *title = NULL, *subtitle = NULL, *span = NULL, *timeline = NULL, *error = NULL;
        Graph graph = { .is_run = true };
        const char *word = "after";
        int status;

        status = recording_open(client, operand, &recording);
        if (status == EXIT_SUCCESS)
                status = replay_end(recording, &run, &nodes);
        if (status == EXIT_SUCCESS && recording->live)
                status = get_live_nodes(client, run->id, &nodes);
        if (status != EXIT_SUCCESS)
                return status;
        if (draw == graph_html && !(timeline = plot_recording(recording, plot_html, &error)))
                return report_error("%s: %s", recording->name, error);

        if (!run_info_has_finished(run) && !recording->left)
                word = "for";
        span = span_format_rounded(run_info_duration(run));
        graph.timeline = timeline;
        graph.title = title = run_info_title(run);
        graph.subtitle = subtitle =
                g_strjoin(NULL, run->status, " ", word, " ", span, *run->cause ? ": " : "", run->cause, NULL);
        print_graph(draw, &graph, recording->definition, nodes);
        return recording_report_damage(recording);
}

/* Without btd, a tree that no run record is left of is drawn from its file. To be freed; NULL: there is none. */
static char *find_file(Client *client, const RecordFiles *files, const char *name) {
        const Options *options = &client->options;
        g_autofree char *file = g_strconcat(name, TREE_SUFFIX, NULL);
        g_auto(GStrv) path = search_path_new(options_has(options, OPTION_USER));

        if (!tree_name_valid(name) || options_has(options, OPTION_DIRECTORY) || options_has(options, OPTION_ADDRESS) ||
            options_has(options, OPTION_HOST) || options_has(options, OPTION_MACHINE))
                return NULL;

        if (files) {
                g_autoptr(GPtrArray) finished = record_files_list(files, name, true),
                                     running = record_files_list(files, name, false);

                if (finished->len + running->len > 0)
                        return NULL;
        } else if (client_has_daemon(client)) {
                return NULL;
        }

        return search_path_find((const char *const *) path, file);
}

int verb_graph(Client *client, char **operands) {
        const char *name = client->options.values[OPTION_FORMAT], *operand = operands[0];
        g_autoptr(RecordFiles) files = NULL;
        g_autofree char *file = NULL;
        g_auto(Target) target = {};
        GraphFormat draw = NULL;
        int status;

        for (size_t i = 0; i < G_N_ELEMENTS(formats) && !draw; i++)
                if (!name || g_str_equal(formats[i].name, name))
                        draw = formats[i].draw;

        if (client->output.json)
                return report_usage("'graph' does not print JSON; 'btctl status --json' has the nodes of a tree or a "
                                    "run");
        if (!draw)
                return report_usage("--format: '%s' is none of 'svg', 'html', 'dot' and 'mermaid'", name);

        if (g_str_equal(operand, "-") || g_str_has_suffix(operand, TREE_SUFFIX))
                return draw_file(client, operand, draw);
        /* A run record */
        if (strchr(operand, '/') || g_str_has_suffix(operand, RECORD_SUFFIX))
                return draw_run(client, operand, draw);

        status = record_files_find(client, &files);
        if (status != EXIT_SUCCESS)
                return status;

        file = find_file(client, files, operand);
        if (file) {
                if (!client->output.quiet)
                        (void) report_error("btd is not running; this is the tree in %s", file);
                return draw_file(client, file, draw);
        }
        if (files || target_is_run_id(operand))
                return draw_run(client, operand, draw);

        status = target_find(client, operand, &target);
        if (status != EXIT_SUCCESS)
                return status;
        return target.run ? draw_run(client, target.run->id, draw) : draw_tree(client, target.tree, draw);
}

/* A timeline; as a page, with the tree. */
int verb_plot(Client *client, char **operands) {
        const char *name = client->options.values[OPTION_FORMAT] ?: "svg";
        PlotFormat format = g_str_equal(name, "trace") ? plot_trace : plot_svg;
        g_autoptr(Recording) recording = NULL;
        g_autofree char *error = NULL, *plot = NULL;
        int status;

        if (client->output.json)
                return report_usage("'plot' does not print JSON; use --format=trace, which is JSON for trace viewers");
        if (g_str_equal(name, "html"))
                return draw_run(client, operands[0], graph_html);
        if (format == plot_svg && !g_str_equal(name, "svg"))
                return report_usage("--format: '%s' is none of 'svg', 'html' and 'trace'", name);

        status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;

        plot = plot_recording(recording, format, &error);
        if (!plot)
                return report_error("%s: %s", recording->name, error);

        fputs(plot, stdout);
        return recording_report_damage(recording);
}
