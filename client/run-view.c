/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The head of a run, why it is over, and its tree. */

#include "run-view.h"
#include "basic/cleanup.h"
#include "cause-chain.h"
#include "journal.h"
#include "look.h"
#include "moment.h"
#include "tree-view.h"

#define LABEL_COLUMNS 9

void run_view_append_field(const Output *output, GString *text, const char *label, const char *value) {
        g_autoptr(GString) line = g_string_new(NULL);

        output_appendf(output, line, STYLE_BOLD, "%*s:", LABEL_COLUMNS, label);
        output_appendf(output, line, STYLE_PLAIN, " %s", value);
        output_end_line(output, text, line);
}

static void append_not_durable(const Output *output, GString *text, const char *why) {
        g_autofree char *value = g_strdup_printf("no, a restart of btd would end it: %s", why);

        run_view_append_field(output, text, "Durable", value);
}

static void append_tree(const Output *output, GString *text, const RunInfo *run) {
        g_autofree char *changed = g_strdup_printf("%s, changed since the start of this run", run->tree);

        run_view_append_field(output, text, "Tree", run->tree_changed ? changed : run->tree);
}

static void append_run_header(const Output *output, GString *text, const RunInfo *run) {
        g_autofree char *title = run_info_title(run), *since = moment_format_point(run->started);
        g_autoptr(GString) line = g_string_new(NULL);

        look_append_event(output, line, title, run->status, run_info_duration(run), run->restart);
        output_end_line(output, text, line);

        append_tree(output, text, run);
        run_view_append_field(output, text, "Started", since);
        if (*run->cause)
                run_view_append_field(output, text, "Cause", run->cause);
        if (run->not_durable && *run->not_durable && !run_info_is_over(run))
                append_not_durable(output, text, run->not_durable);
}

/* Where the cause is about a unit: what that has said last, and how to see more. */
static void append_journal(const Client *client, GString *text, json_object *facts) {
        g_autofree char *command = journal_command(client, facts);
        g_autoptr(json_object) lines = NULL;

        if (!command)
                return;

        lines = journal_last_lines(client, facts);
        run_view_append_field(&client->output, text, "Journal", command);
        journal_append(&client->output, text, lines, LABEL_COLUMNS + 2);
}

static void append_cause(const Client *client, GString *text, json_object *chain) {
        json_object *facts = cause_chain_facts(chain);

        cause_chain_append(&client->output, text, chain, LABEL_COLUMNS);
        if (facts)
                append_journal(client, text, facts);
}

void run_view_append(const Client *client, GString *text, const RunInfo *run, json_object *chain,
                     const GPtrArray *nodes) {
        append_run_header(&client->output, text, run);
        append_cause(client, text, chain);
        g_string_append_c(text, '\n');
        tree_view_append(&client->output, text, nodes);
}

json_object *run_view_nodes_to_json(const GPtrArray *nodes) {
        json_object *json = json_object_new_array();

        for (guint i = 0; i < nodes->len; i++)
                json_object_array_add(json, node_info_to_json(g_ptr_array_index(nodes, i), nodes));

        return json;
}

json_object *run_view_to_json(const Client *client, const RunInfo *run, json_object *chain, const GPtrArray *nodes) {
        json_object *json = run_info_to_json(run), *facts = cause_chain_facts(chain);

        json_object_object_add(json, "cause_chain", json_object_get(chain));
        json_object_object_add(json, "journal", facts ? journal_last_lines(client, facts) : json_object_new_array());
        json_object_object_add(json, "nodes", run_view_nodes_to_json(nodes));
        return json;
}
