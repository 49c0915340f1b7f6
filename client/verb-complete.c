/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* btctl complete: words for the completion of a shell, one a line. */

#include <stdio.h>
#include <string.h>

#include "node-types.h"
#include "run-info.h"
#include "tree-info.h"
#include "verbs.h"

static int complete_verbs(Client *client, const char *verb) {
        for (const Verb *it = verb_table; it->name; it++)
                if (it->help)
                        puts(it->name);

        return EXIT_SUCCESS;
}

/* Those of the verb, if it is known by now; with '=' where a value follows. */
static int complete_options(Client *client, const char *verb) {
        uint32_t ids = OPTION_BITS_COMMON;

        for (const Verb *it = verb_table; it->name; it++)
                if (verb && strcmp(it->name, verb) == 0)
                        ids |= it->options;

        for (OptionId id = 0; id < OPTION_MAX_; id++)
                if (ids & OPTION_BIT(id))
                        printf("--%s%s\n", option_table[id].name, option_table[id].argument ? "=" : "");

        return EXIT_SUCCESS;
}

static int complete_trees(Client *client, const char *verb) {
        g_autoptr(GPtrArray) trees = NULL;
        int status;

        status = tree_info_list(client, &trees);
        for (guint i = 0; status == EXIT_SUCCESS && i < trees->len; i++)
                puts(((const TreeInfo *) g_ptr_array_index(trees, i))->name);

        return status;
}

static int complete_runs(Client *client, const char *verb) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list(client, &runs);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++)
                puts(((const RunInfo *) g_ptr_array_index(runs, i))->id);

        return status;
}

/* With those that are not listed any more. */
static int complete_past(Client *client, const char *verb) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list_past(client, "", &runs);
        for (guint i = 0; status == EXIT_SUCCESS && i < runs->len; i++)
                puts(((const RunInfo *) g_ptr_array_index(runs, i))->id);

        return status;
}

static int complete_types(Client *client, const char *verb) {
        g_autoptr(GPtrArray) types = node_types_list();

        for (guint i = 0; i < types->len; i++)
                puts(((const NodeType *) g_ptr_array_index(types, i))->name);

        return EXIT_SUCCESS;
}

int verb_complete(Client *client, char **operands) {
        static const struct {
                const char *what;
                int (*complete)(Client *client, const char *verb);
        } table[] = {
                { "verbs", complete_verbs }, { "options", complete_options }, { "trees", complete_trees },
                { "runs", complete_runs },   { "types", complete_types },     { "past", complete_past },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if (strcmp(table[i].what, operands[0]) == 0)
                        return table[i].complete(client, operands[1]);

        return report_usage("'%s' cannot be completed", operands[0]);
}
