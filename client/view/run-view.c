/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows a run or a tree: its header, the causes of its end, the last lines of its unit, and its nodes. */

#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/excerpt.h"
#include "client/bus/node-info.h"
#include "client/view/run-view.h"
#include "client/view/style.h"
#include "client/view/text.h"
#include "client/view/unit-log.h"

/* The indent of each level. */
#define INDENT 3

int cause_chain_get(Client *client, const char *run_path, json_object **ret_chain) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_autofree char *error = NULL;
        int status, r;

        status = client_get(client, run_path, BTD_RUN, "CauseChain", "aa{sv}", &reply);
        if (status != EXIT_SUCCESS)
                return status;

        r = value_read_variable(reply, NULL, ret_chain, &error);
        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

static const char *get_text(json_object *level, const char *key) {
        json_object *value;

        return json_object_object_get_ex(level, key, &value) ? json_object_get_string(value) : "";
}

static json_object *cause_chain_facts(json_object *chain) {
        size_t n = json_object_array_length(chain);
        json_object *facts = n > 0 ? json_object_object_get(json_object_array_get_idx(chain, n - 1), "facts") : NULL;

        return json_object_is_type(facts, json_type_object) ? facts : NULL;
}

/* "      Why: ", and blanks of that width on further lines. */
static void append_label(const Output *output, GString *line, const char *label, int columns) {
        output_appendf(output, line, STYLE_BOLD, "%*s%s", columns, label, *label ? ":" : " ");
        g_string_append_c(line, ' ');
}

static void append_cause_node(const Output *output, GString *line, json_object *level, size_t depth) {
        const char *title = get_text(level, "title"), *element = get_text(level, "element");

        if (depth > 0)
                output_appendf(output, line, STYLE_PLAIN, "%*s%s", (int) (INDENT * (depth - 1)), "",
                               output->ascii ? "`- " : "└─ ");
        node_info_append_label(output, line, get_text(level, "name"), get_text(level, "type"), *title ? title : NULL,
                               *element ? element : NULL);
        output_appendf(output, line, STYLE_PLAIN, ": %s", get_text(level, "text"));
}

static void append_facts(const Output *output, GString *text, json_object *facts, int columns) {
        g_autoptr(GString) line = g_string_new(NULL);
        const char *label = "Facts";

        json_object_object_foreach(facts, name, value) {
                g_autofree char *words = g_strdelimit(g_strdup(name), "_", ' ');

                /* Facts for programs are only in --json. */
                if (g_str_has_suffix(name, "_usec") || g_str_has_suffix(name, "_id"))
                        continue;

                append_label(output, line, label, columns);
                label = "";
                output_appendf(output, line, STYLE_DIM, "%s: ", words);
                output_append(output, line, STYLE_PLAIN,
                              json_object_is_type(value, json_type_string)
                                      ? json_object_get_string(value)
                                      : json_object_to_json_string_ext(value, JSON_C_TO_STRING_NOSLASHESCAPE));
                output_end_line(output, text, line);
        }
}

/*
 * The branches of a drawn tree: nodes come in depth-first order, so the branches before a node are those before its
 * parent and one more piece. Only the last child of a parent has nothing below its branch.
 */
typedef struct Branches {
        const char *child, *last_child, *pass, *blank;
} Branches;

static const Branches branches_unicode = { "├─ ", "└─ ", "│  ", "   " };
static const Branches branches_ascii = { "|- ", "`- ", "|  ", "   " };

/* The last child of each node that is shown, or 0; and which nodes are not shown. */
static uint32_t *find_last_children(const GPtrArray *nodes, bool *hidden) {
        uint32_t *last_children = g_new0(uint32_t, nodes->len);

        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i),
                               *parent = node->parent < i ? g_ptr_array_index(nodes, node->parent) : NULL;
                /* A copy of the child of a ForEach that has had no element yet. The first one shows what the child is.
                 */
                bool is_spare = parent && g_str_equal(parent->type, "ForEach") && i > parent->index + 1 &&
                                node->since == 0 && !node->element;

                hidden[i] = is_spare || (parent && hidden[parent->index]);
                if (node->parent < i && !hidden[i])
                        last_children[node->parent] = i;
        }

        return last_children;
}

static void append_tree_node(const Output *output, GString *line, const NodeInfo *node) {
        style_append_symbol(output, line, node->status);
        g_string_append_c(line, ' ');
        node_info_append_label(output, line, node->name, node->type, node->title, node->element);
        style_append_outcome(output, line, node->status, node->duration, node->detail);
}

void tree_view_append_node(const Output *output, GString *line, const GPtrArray *nodes, const uint32_t *last_children,
                           uint32_t index) {
        const Branches *branches = output->ascii ? &branches_ascii : &branches_unicode;
        gsize start = line->len;

        /* From the root down to the node. */
        for (uint32_t i = index; i > 0; i = ((const NodeInfo *) g_ptr_array_index(nodes, i))->parent) {
                bool last = last_children[((const NodeInfo *) g_ptr_array_index(nodes, i))->parent] == i;

                if (i == index)
                        g_string_insert(line, (gssize) start, last ? branches->last_child : branches->child);
                else
                        g_string_insert(line, (gssize) start, last ? branches->blank : branches->pass);
        }
        append_tree_node(output, line, g_ptr_array_index(nodes, index));
}

void tree_view_append(const Output *output, GString *text, const GPtrArray *nodes) {
        const Branches *branches = output->ascii ? &branches_ascii : &branches_unicode;
        g_autofree bool *hidden = g_new0(bool, nodes->len);
        g_autofree uint32_t *last_children = find_last_children(nodes, hidden);
        g_autofree gsize *indents = g_new(gsize, nodes->len); /* length of indent for the children of a node */
        g_autoptr(GString) indent = g_string_new(NULL), line = g_string_new(NULL);

        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i);

                if (hidden[i])
                        continue;

                g_string_truncate(indent, node->parent < i ? indents[node->parent] : 0);
                g_string_append(line, indent->str);
                if (node->parent < i) {
                        bool last = last_children[node->parent] == i;

                        g_string_append(line, last ? branches->last_child : branches->child);
                        g_string_append(indent, last ? branches->blank : branches->pass);
                }
                indents[i] = indent->len;

                append_tree_node(output, line, node);
                output_end_line(output, text, line);
        }
}

#define LABEL_COLUMNS 9

void run_view_append_field(const Output *output, GString *text, const char *label, const char *value) {
        g_autoptr(GString) line = g_string_new(NULL);

        output_appendf(output, line, STYLE_BOLD, "%*s%c", LABEL_COLUMNS, label, *label ? ':' : ' ');
        output_appendf(output, line, STYLE_PLAIN, " %s", value);
        output_end_line(output, text, line);
}

/* A text that must not be cut: on a terminal, it continues in more lines. */
static void append_long_field(const Output *output, GString *text, const char *label, const char *value) {
        g_autoptr(GString) broken = g_string_new(NULL);
        g_auto(GStrv) lines = NULL;

        if (output->columns <= 2 * LABEL_COLUMNS) {
                run_view_append_field(output, text, label, value);
                return;
        }

        /* A line that fills the terminal looks as if it were cut. */
        text_append_broken(broken, value, output->columns - LABEL_COLUMNS - strlen(": ") - 1);
        lines = g_strsplit(g_strchomp(broken->str), "\n", -1);
        for (char **line = lines; *line; line++)
                run_view_append_field(output, text, line == lines ? label : "", *line);
}

void run_view_append_wait(const Output *output, GString *text, const char *title, const char *wait) {
        g_autoptr(GString) line = g_string_new(NULL);

        if (!*wait)
                return;

        output_appendf(output, line, STYLE_BOLD, "%s:", title);
        output_appendf(output, line, STYLE_PLAIN, " %s", wait);
        output_end_line(output, text, line);
}

void run_view_append_waits(const Output *output, GString *text, const GPtrArray *trees, const GPtrArray *runs) {
        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);

                run_view_append_wait(output, text, tree->name, tree->waiting);
        }
        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);
                g_autofree char *title = run_info_title(run);

                run_view_append_wait(output, text, title, run->restart);
        }
}

static const char *plural(uint64_t n) {
        return n == 1 ? "" : "s";
}

static void append_counts(const Output *output, GString *text, const RunCounts *counts) {
        g_autofree char *again = counts->action_restarts > 0
                                         ? g_strdup_printf(", %" PRIu64 " of them again", counts->action_restarts)
                                         : g_strdup(""),
                        *value = g_strdup_printf("%" PRIu64 ", %" PRIu64 " change%s, %" PRIu64 " action%s started%s",
                                                 counts->ticks, counts->inputs, plural(counts->inputs),
                                                 counts->action_starts, plural(counts->action_starts), again);

        run_view_append_field(output, text, "Ticks", value);
}

static void append_run_header(const Output *output, GString *text, const RunInfo *run) {
        g_autofree char *title = run_info_title(run), *since = time_format_point(run->started);
        g_autoptr(GString) line = g_string_new(NULL);

        style_append_event(output, line, title, run->status, run_info_duration(run), run->restart);
        output_end_line(output, text, line);

        if (run->tree_changed) {
                g_autofree char *changed =
                        g_strdup_printf("%s (changed since this run started; the run keeps the old tree)", run->tree);

                run_view_append_field(output, text, "Tree", changed);
        } else {
                run_view_append_field(output, text, "Tree", run->tree);
        }
        run_view_append_field(output, text, "Started", since);
        if (run->ready > 0 && run->ready != UINT64_MAX && !run_info_has_finished(run)) {
                g_autofree char *ready = time_format_point(run->ready);

                run_view_append_field(output, text, "Ready", ready);
        }
        if (run->is_counted)
                append_counts(output, text, &run->counts);
        if (*run->cause)
                append_long_field(output, text, "Cause", run->cause);
        if (run->outputs) {
                const char *label = "Outputs";

                json_object_object_foreach(run->outputs, name, value) {
                        const char *json = json_object_to_json_string_ext(
                                value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
                        g_autofree char *shown = excerpt(json, strlen(json)),
                                        *assignment = g_strconcat(name, "=", shown, NULL);

                        run_view_append_field(output, text, label, assignment);
                        label = "";
                }
        }
        if (run->not_durable && *run->not_durable && !run_info_has_finished(run)) {
                g_autofree char *why =
                        g_strdup_printf("no, the run is lost if btd restarts, because %s", run->not_durable);

                run_view_append_field(output, text, "Durable", why);
        }
}

void cause_chain_append(const Output *output, GString *text, json_object *chain) {
        json_object *facts = cause_chain_facts(chain);
        g_autoptr(GString) line = g_string_new(NULL);

        for (size_t i = 0, depth = 0; i < json_object_array_length(chain); i++) {
                json_object *level = json_object_array_get_idx(chain, i);

                if (!json_object_object_get_ex(level, "node", NULL) || !*get_text(level, "text"))
                        continue;
                append_cause_node(output, line, level, depth++);
                output_end_line(output, text, line);
        }
        if (facts)
                append_facts(output, text, facts, LABEL_COLUMNS);
}

static void append_cause(const Client *client, GString *text, json_object *chain, uint64_t finished) {
        const Output *output = &client->output;
        json_object *facts = cause_chain_facts(chain);
        size_t n = json_object_array_length(chain);
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *command = facts ? journal_command(client, facts) : NULL;

        /* The cause of the run already names a single node. */
        for (size_t i = 1; n > 2 && i < n; i++) {
                append_label(output, line, i == 1 ? "Why" : "", LABEL_COLUMNS);
                append_cause_node(output, line, json_object_array_get_idx(chain, i), i - 1);
                output_end_line(output, text, line);
        }
        if (facts)
                append_facts(output, text, facts, LABEL_COLUMNS);

        /* If the cause is about a unit: its last log lines, and the command that shows all. */
        if (command) {
                g_autoptr(json_object) lines = journal_last_lines(client, facts, finished);

                run_view_append_field(output, text, "Journal", command);
                journal_append(output, text, lines, LABEL_COLUMNS + 2);
        }
}

void run_view_append(const Client *client, GString *text, const RunInfo *run, json_object *chain,
                     const GPtrArray *nodes) {
        append_run_header(&client->output, text, run);
        append_cause(client, text, chain, run->finished);
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
        json_object_object_add(json, "journal",
                               facts ? journal_last_lines(client, facts, run->finished) : json_object_new_array());
        json_object_object_add(json, "nodes", run_view_nodes_to_json(nodes));
        return json;
}
