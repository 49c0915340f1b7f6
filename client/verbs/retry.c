/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * btctl retry: starts a run that takes over what has succeeded in a finished one. The run record has all that is needed
 * for this. What is taken over, and what begins anew, is said before.
 */

#include <json-c/linkhash.h>
#include <stdio.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/recording/recording.h"
#include "client/verbs/start.h"
#include "client/verbs/variables.h"
#include "client/verbs/verbs.h"
#include "client/view/report.h"
#include "run/retry.h"

static json_object *paths_of(const Tree *tree, const GArray *nodes) {
        json_object *paths = json_object_new_array();

        for (guint i = 0; i < nodes->len; i++) {
                g_autofree char *path = tree_node_path(tree, g_array_index(nodes, NodeId, i));

                json_object_array_add(paths, json_object_new_string(path));
        }
        return paths;
}

static json_object *plan_to_json(const Run *run, const RetryPlan *plan, json_object *state) {
        const Tree *tree = definition_tree(run_definition(run));
        g_autofree char *first = plan->first == NODE_NONE ? NULL : tree_node_path(tree, plan->first);
        json_object *json = json_object_new_object();

        json_object_object_add(json, "run", json_object_new_string(run_id(run)));
        json_object_object_add(json, "taken", paths_of(tree, plan->taken));
        json_object_object_add(json, "anew", paths_of(tree, plan->anew));
        json_object_object_add(json, "first", first ? json_object_new_string(first) : NULL);
        json_object_object_add(json, "variables", json_object_get(state));
        return json;
}

static void print_nodes(FILE *file, const Tree *tree, const GArray *nodes, const char *title) {
        if (nodes->len > 0)
                fprintf(file, "%s\n", title);
        for (guint i = 0; i < nodes->len; i++) {
                NodeId node = g_array_index(nodes, NodeId, i);
                g_autofree char *path = tree_node_path(tree, node);

                fprintf(file, "  %s (%s)\n", path, tree->nodes[node].type->name);
        }
}

static void print_plan(FILE *file, const Run *run, const RetryPlan *plan, bool changed) {
        const Tree *tree = definition_tree(run_definition(run));
        g_autofree char *first = plan->first == NODE_NONE ? NULL : tree_node_path(tree, plan->first);

        if (changed)
                fprintf(file, "The tree has changed since %s, but its nodes are the same.\n", run_id(run));
        if (plan->taken->len == 0)
                fprintf(file, "Nothing in %s can be taken over.\n", run_id(run));
        print_nodes(file, tree, plan->taken, "Taken over, and not executed again:");
        print_nodes(file, tree, plan->anew, "Begins anew, though a part of it has succeeded:");
        if (first)
                fprintf(file, "The run begins with %s.\n", first);
}

/* Without a terminal, nobody can be asked. */
static int ask(void) {
        char answer[8];

        if (!isatty(STDIN_FILENO))
                return report_usage("there is no terminal to ask on; give --yes or --dry-run");

        fprintf(stderr, "Start it? [y/N] ");
        if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
                return EXIT_SUCCESS;

        return report_error("not started");
}

/* A node has the same number in both trees if all nodes have the same types and names. */
static int compare_nodes(Client *client, const char *path, const Recording *recording, bool *ret_same) {
        const Tree *tree = definition_tree(recording->definition);
        g_autoptr(GPtrArray) nodes = NULL;
        int status = node_info_of_tree(client, path, &nodes);

        *ret_same = status == EXIT_SUCCESS && nodes->len == tree->n_nodes;
        for (guint i = 0; *ret_same && i < nodes->len; i++) {
                const NodeInfo *node = nodes->pdata[i];

                *ret_same = g_str_equal(node->type, tree->nodes[i].type->name) &&
                            g_str_equal(node->name, tree_node_name(tree, i)) && node->parent == tree->nodes[i].parent;
        }
        return status;
}

/* ret_hash: of the tree as btd has it now. */
static int check_tree(Client *client, const Recording *recording, char **ret_hash) {
        const RecordHeader *header = &recording->record->header;
        g_autoptr(GPtrArray) trees = NULL;
        const TreeInfo *tree;
        bool same = true;
        int status = tree_info_list(client, &trees);

        if (status != EXIT_SUCCESS)
                return status;

        tree = tree_info_find(trees, header->tree);
        if (!tree)
                return target_report_no_tree(client, header->tree);

        status = client_get_string(client, tree->path, BTD_TREE, "Hash", ret_hash);
        if (status != EXIT_SUCCESS || g_str_equal(*ret_hash, header->hash))
                return status;

        status = compare_nodes(client, tree->path, recording, &same);
        if (status == EXIT_SUCCESS && !same)
                status = report_error("tree '%s' has other nodes than at the time of %s; start it from its beginning "
                                      "with 'btctl start'",
                                      header->tree, header->run);
        return status;
}

/* The variables of the start, and those that follow from the old run; what the user gives replaces both. */
static int collect_sets(Client *client, const Recording *recording, json_object *state, GPtrArray *sets) {
        const ScopeInfo *scope = definition_scope_info(recording->definition, 0);
        g_autoptr(json_object) own = variables_to_json(client->options.sets);

        json_object_object_foreach(recording->record->header.variables, name, value) {
                const char *json = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
                const Declaration *input = scope->inputs;

                /* The stored value of a kept variable is newer: a run between the two may have changed it. */
                while (input->name && !g_str_equal(input->name, name))
                        input++;
                if (json_object_object_get_ex(own, name, NULL) || (input->name && input->kept))
                        continue;
                if (scope->secrets && g_strv_contains(scope->secrets, name))
                        return report_error("the input '%s' is secret, so its value is not stored; give it with --set "
                                            "%s=JSON",
                                            name, name);
                g_ptr_array_add(sets, g_strconcat(name, "=", json, NULL));
        }
        for (guint i = 0; i < client->options.sets->len; i++)
                g_ptr_array_add(sets, g_strdup(client->options.sets->pdata[i]));
        json_object_object_foreach(own, given, other) {
                (void) other;
                json_object_object_del(state, given);
        }
        return EXIT_SUCCESS;
}

static int find_from(Client *client, const Recording *recording, const Replay *replay, NodeId *ret_node) {
        g_autoptr(GPtrArray) nodes = recording_nodes_at(recording, replay, recording_length(recording));
        const char *operand = client->options.values[OPTION_FROM];
        g_autofree char *error = NULL;

        *ret_node = NODE_NONE;
        if (!operand || target_choose_node(nodes, operand, ret_node, &error))
                return EXIT_SUCCESS;
        return report_error("%s", error);
}

int verb_retry(Client *client, char **operands) {
        g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(g_free);
        bool dry = options_has(&client->options, OPTION_DRY_RUN), started;
        g_autofree char *error = NULL, *hash = NULL;
        g_autoptr(json_object) state = NULL;
        g_autoptr(Recording) recording = NULL;
        g_autoptr(RetryPlan) plan = NULL;
        g_autoptr(Replay) replay = NULL;
        const RecordHeader *header;
        NodeId from;
        int status = start_check_options(client);

        if (status == EXIT_SUCCESS)
                status = recording_open(client, operands[0], &recording);
        if (status != EXIT_SUCCESS)
                return status;
        header = &recording->record->header;
        if (replay_new_after(recording->record, recording->definition, UINT64_MAX, &replay, &error) < 0 ||
            replay_until(replay, UINT64_MAX, &error) < 0)
                return report_error("%s: %s", recording->name, error);
        status = find_from(client, recording, replay, &from);
        if (status != EXIT_SUCCESS)
                return status;
        if (retry_plan_new(replay_run(replay), from, &plan, &error) < 0)
                return report_error("%s", error);

        status = check_tree(client, recording, &hash);
        state = retry_variables(replay_run(replay));
        if (status == EXIT_SUCCESS)
                status = collect_sets(client, recording, state, sets);
        if (status != EXIT_SUCCESS)
                return status;

        g_assert(hash);
        if (client->output.json && dry)
                output_print_json(plan_to_json(replay_run(replay), plan, state));
        else if (!client->output.json && !options_has(&client->options, OPTION_QUIET))
                print_plan(dry ? stdout : stderr, replay_run(replay), plan, !g_str_equal(hash, header->hash));
        if (!dry && !options_has(&client->options, OPTION_YES))
                status = ask();
        if (status != EXIT_SUCCESS || dry)
                return status;

        return start_tree(client, header->tree, header->instance, sets,
                          &(RunTaken){ header->run, hash, plan->taken, state }, NULL, &started);
}
