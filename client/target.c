/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finding the run or the tree of an operand among what btd lists. */

#include <string.h>

#include "target.h"

void target_clear(Target *target) {
        g_clear_pointer(&target->run, run_info_free);
        g_clear_pointer(&target->tree, tree_info_free);
}

bool target_is_run_id(const char *operand) {
        return strchr(operand, '.');
}

void target_split(const char *operand, char **ret_tree, char **ret_instance) {
        const char *at = strchr(operand, '@');

        *ret_tree = at ? g_strndup(operand, at - operand) : g_strdup(operand);
        *ret_instance = at ? g_strdup(at + 1) : NULL;
}

/* Only btd knows all names that it could have been; so it is asked for the one that is not there. */
static int ask(Client *client, const char *method, const char *name) {
        return client_call(client, NULL, BTD_PATH, BTD_MANAGER, method, "s", name);
}

/* Said of a run that is not there any more: it may be known yet what became of it. */
static int report_no_run(Client *client, const char *id) {
        g_autoptr(GPtrArray) past = NULL;
        int status;

        status = run_info_list_past(client, "", &past);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < past->len; i++) {
                const RunInfo *run = g_ptr_array_index(past, i);

                if (strcmp(run->id, id) == 0)
                        return report_error("%s is over: %s; 'btctl replay %s' shows how it was, 'btctl show %s' what "
                                            "happened",
                                            id, run->status, id, id);
        }

        status = ask(client, "GetRun", id);
        return status != EXIT_SUCCESS ? status
                                      : report_error("no run '%s'; 'btctl list' shows those that are there", id);
}

static int find_run(Client *client, const char *id, Target *ret_target) {
        g_autoptr(GPtrArray) runs = NULL;
        int status;

        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < runs->len; i++) {
                const RunInfo *run = g_ptr_array_index(runs, i);

                if (strcmp(run->id, id) == 0) {
                        *ret_target = (Target){ .run = g_ptr_array_steal_index(runs, i) };
                        return EXIT_SUCCESS;
                }
        }

        return report_no_run(client, id);
}

/* instance NULL: any. */
static RunInfo *take_newest_run(GPtrArray *runs, const char *tree, const char *instance) {
        for (guint i = runs->len; i > 0; i--) {
                const RunInfo *run = g_ptr_array_index(runs, i - 1);

                if (strcmp(run->tree, tree) == 0 && (!instance || strcmp(run->instance, instance) == 0))
                        return g_ptr_array_steal_index(runs, i - 1);
        }

        return NULL;
}

static int find_tree(Client *client, const char *name, Target *ret_target) {
        g_autoptr(GPtrArray) trees = NULL;
        int status;

        status = tree_info_list(client, &trees);
        if (status != EXIT_SUCCESS)
                return status;

        for (guint i = 0; i < trees->len; i++) {
                const TreeInfo *tree = g_ptr_array_index(trees, i);

                if (strcmp(tree->name, name) == 0) {
                        *ret_target = (Target){ .tree = g_ptr_array_steal_index(trees, i) };
                        return EXIT_SUCCESS;
                }
        }

        status = ask(client, "GetTree", name);
        return status != EXIT_SUCCESS ? status
                                      : report_error("no tree '%s'; 'btctl list' shows those that are there", name);
}

int target_find(Client *client, const char *operand, Target *ret_target) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) runs = NULL;
        g_auto(Target) target = {};
        int status;

        if (target_is_run_id(operand))
                return find_run(client, operand, ret_target);

        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;

        target_split(operand, &tree, &instance);
        target.run = take_newest_run(runs, tree, instance);
        if (!target.run) {
                status = find_tree(client, tree, &target);
                if (status != EXIT_SUCCESS)
                        return status;
                if (instance)
                        return report_error("no run of tree '%s' has the instance '%s'; start one with "
                                            "'btctl start %s --instance=%s'",
                                            tree, instance, tree, instance);
        }

        *ret_target = target;
        target = (Target){};
        return EXIT_SUCCESS;
}

int target_find_running(Client *client, const char *operand, RunInfo **ret_run) {
        g_auto(Target) target = {};
        int status;

        status = target_find(client, operand, &target);
        if (status != EXIT_SUCCESS)
                return status;
        if (!target.run)
                return report_error("tree '%s' is not running; start it with 'btctl start %s'", operand, operand);
        if (run_info_is_over(target.run))
                return report_error("%s is over: %s", target.run->id, target.run->status);

        *ret_run = g_steal_pointer(&target.run);
        return EXIT_SUCCESS;
}
