/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl complete: prints words for shell completion, one on each line. */

#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "client/bus/target.h"
#include "client/files.h"
#include "client/recording/record-files.h"
#include "client/verbs/verbs.h"

static int complete_verbs(Client *client, const char *of) {
        for (const Verb *it = verb_table; it->name; it++)
                if (it->help)
                        puts(it->name);

        return EXIT_SUCCESS;
}

/* Prints the options of the verb, if it is known, and those of all verbs; with '=' if a value follows. */
static int complete_options(Client *client, const char *of) {
        uint32_t ids = OPTION_BITS_COMMON;

        for (const Verb *it = verb_table; it->name; it++)
                if (of && strcmp(it->name, of) == 0)
                        ids |= it->options;

        for (OptionId id = 0; id < OPTION_MAX_; id++)
                if (ids & OPTION_BIT(id))
                        printf("--%s%s\n", option_table[id].name, option_table[id].argument ? "=" : "");

        return EXIT_SUCCESS;
}

static int complete_trees(Client *client, const char *of) {
        g_autoptr(GPtrArray) trees = NULL;
        int status;

        status = tree_info_list(client, &trees);
        for (guint i = 0; status == EXIT_SUCCESS && i < trees->len; i++)
                puts(((const TreeInfo *) g_ptr_array_index(trees, i))->name);

        return status;
}

static int complete_runs(Client *client, const char *of) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list(client, &runs);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++)
                puts(((const RunInfo *) g_ptr_array_index(runs, i))->id);

        return status;
}

/* Prints finished runs, also those that btd no longer lists. Where they are found does not matter here. */
static int complete_past(Client *client, const char *of) {
        g_autoptr(RecordFiles) files = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        client->output.quiet = true;
        status = record_files_select(client, NULL, &files, &runs, NULL);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++)
                puts(((const RunInfo *) g_ptr_array_index(runs, i))->id);

        return status;
}

static int complete_types(Client *client, const char *of) {
        g_autoptr(GPtrArray) types = node_types_list();

        for (guint i = 0; i < types->len; i++)
                puts(((const NodeType *) g_ptr_array_index(types, i))->name);

        return EXIT_SUCCESS;
}

/* Whether the operand names exactly this node, and has no blanks, which would split it in a shell. */
static bool names_one(const GPtrArray *nodes, const char *operand, uint32_t index) {
        g_autofree char *error = NULL;
        uint32_t found;

        return !strpbrk(operand, " \t\n") && target_choose_node(nodes, operand, &found, &error) && found == index;
}

/* Prints names; or paths, if several nodes have the same name. */
static void print_nodes(const GPtrArray *nodes) {
        for (uint32_t i = 0; i < nodes->len; i++) {
                const char *name = ((const NodeInfo *) g_ptr_array_index(nodes, i))->name;
                g_autofree char *path = node_info_path(nodes, i);

                if (names_one(nodes, name, i))
                        puts(name);
                else if (names_one(nodes, path, i))
                        puts(path);
        }
}

static int complete_nodes(Client *client, const char *of) {
        g_autoptr(GPtrArray) nodes = NULL;
        g_autoptr(RunInfo) run = NULL;
        int status;

        status = target_find_running(client, of, &run);
        if (status == EXIT_SUCCESS)
                status = node_info_of_run(client, run->path, &nodes);
        if (status == EXIT_SUCCESS)
                print_nodes(nodes);

        return status;
}

static int print_keys(sd_bus_message *variables) {
        const char *key;
        int r;

        r = sd_bus_message_enter_container(variables, SD_BUS_TYPE_ARRAY, "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(variables, SD_BUS_TYPE_DICT_ENTRY, "sv")) > 0) {
                r = sd_bus_message_read(variables, "s", &key);
                if (r >= 0)
                        r = sd_bus_message_skip(variables, "v");
                if (r >= 0)
                        r = sd_bus_message_exit_container(variables);
                if (r >= 0)
                        puts(key);
        }

        return r < 0 ? client_bad_message(r) : EXIT_SUCCESS;
}

static int complete_variables(Client *client, const char *of) {
        g_autoptr(sd_bus_message) reply = NULL;
        g_auto(Target) target = {};
        int status;

        status = target_find(client, of, &target);
        if (status != EXIT_SUCCESS || !target.run)
                return status;

        status = client_call(client, &reply, target.run->path, BTD_RUN, "GetVariables", NULL);
        return status == EXIT_SUCCESS ? print_keys(reply) : status;
}

int verb_complete(Client *client, char **operands) {
        static const struct {
                const char *what;
                int (*complete)(Client *client, const char *of);
                bool of_run;
        } table[] = {
                { "verbs", complete_verbs, false }, { "options", complete_options, false },
                { "trees", complete_trees, false }, { "runs", complete_runs, false },
                { "types", complete_types, false }, { "past", complete_past, false },
                { "nodes", complete_nodes, true },  { "variables", complete_variables, true },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
                if (strcmp(table[i].what, operands[0]) != 0)
                        continue;
                if (table[i].of_run && !operands[1])
                        return report_usage("'%s' needs a run", operands[0]);

                return table[i].complete(client, operands[1]);
        }

        return report_usage("'%s' cannot be completed", operands[0]);
}
