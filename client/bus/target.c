/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the run, the tree or the node that an operand names, among those that btd lists. */

#include <string.h>

#include "basic/foreach.h"
#include "basic/nearest.h"
#include "basic/unit-escape.h"
#include "client/bus/target.h"
#include "engine/tree.h"
#include "run/instance.h"

#define ESCAPED_AT "\\x40"

void target_clear(Target *target) {
        g_clear_pointer(&target->run, run_info_free);
        g_clear_pointer(&target->tree, tree_info_free);
}

/* An instance may have a dot, too: "net@eth0.100". */
bool target_is_run_id(const char *operand) {
        return operand[strcspn(operand, ".@")] == '.';
}

void target_split(const char *operand, char **ret_tree, char **ret_instance) {
        const char *at = strchr(operand, '@');

        *ret_tree = at ? g_strndup(operand, at - operand) : g_strdup(operand);
        *ret_instance = at ? instance_name(at + 1, true) : NULL;
}

/* systemd-escape(1) escapes the '@', too. */
char *target_unescape(const char *escaped) {
        const char *at = strchr(escaped, '@') ?: strstr(escaped, ESCAPED_AT),
                   *instance = at ? at + (*at == '@' ? 1 : strlen(ESCAPED_AT)) : NULL;
        g_autofree char *tree = at ? g_strndup(escaped, (size_t) (at - escaped)) : g_strdup(escaped);
        g_autofree char *tree_text = unit_unescape(tree, false), *text = at ? unit_unescape(instance, true) : NULL,
                        *name = NULL;

        if (!tree_text || (at && !text))
                return NULL;
        if (!at)
                return g_steal_pointer(&tree_text);

        name = instance_name(text, false);
        return g_strconcat(tree_text, "@", name, NULL);
}

bool target_names(const char *operand, const RunInfo *run) {
        g_autofree char *tree = NULL, *instance = NULL;

        if (target_is_run_id(operand))
                return strcmp(run->id, operand) == 0;

        target_split(operand, &tree, &instance);
        return strcmp(run->tree, tree) == 0 && (!instance || strcmp(run->instance, instance) == 0);
}

RunInfo *target_choose_run(const GPtrArray *runs, const char *operand) {
        for (guint i = runs->len; i > 0; i--)
                if (target_names(operand, g_ptr_array_index(runs, i - 1)))
                        return g_ptr_array_index(runs, i - 1);

        return NULL;
}

/* Lets btd make the message, because only btd knows all names for a suggestion. If it has the name by now, the message
 * is ours. */
int target_report_no_run(Client *client, const char *id) {
        int status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetRun", "s", id);

        return status != EXIT_SUCCESS ? status : report_error("no run '%s'; 'btctl list' shows the runs", id);
}

int target_report_no_tree(Client *client, const char *name) {
        int status = client_call(client, NULL, BTD_PATH, BTD_MANAGER, "GetTree", "s", name);

        return status != EXIT_SUCCESS ? status : report_error("no tree '%s'; 'btctl list' shows the trees", name);
}

/* If the run is in the history, says how it has finished. */
static int report_not_listed(Client *client, const char *id) {
        g_autoptr(GPtrArray) past = NULL;
        const RunInfo *run;
        int status;

        status = run_info_list_past(client, NULL, &past);
        if (status != EXIT_SUCCESS)
                return status;

        run = target_choose_run(past, id);
        if (run)
                return report_error("%s has finished: %s; see 'btctl replay %s' for its last status and "
                                    "'btctl show %s' for its events",
                                    id, run->status, id, id);

        return target_report_no_run(client, id);
}

int target_find(Client *client, const char *operand, Target *ret_target) {
        g_autofree char *tree = NULL, *instance = NULL;
        g_autoptr(GPtrArray) runs = NULL, trees = NULL;
        int status;
        guint i;

        status = run_info_list(client, &runs);
        if (status != EXIT_SUCCESS)
                return status;
        if (g_ptr_array_find(runs, target_choose_run(runs, operand), &i)) {
                *ret_target = (Target){ .run = g_ptr_array_steal_index(runs, i) };
                return EXIT_SUCCESS;
        }
        if (target_is_run_id(operand))
                return report_not_listed(client, operand);

        target_split(operand, &tree, &instance);
        status = tree_info_list(client, &trees);
        if (status != EXIT_SUCCESS)
                return status;
        if (!g_ptr_array_find(trees, tree_info_find(trees, tree), &i))
                return target_report_no_tree(client, tree);
        if (instance)
                return report_error("no run of tree '%s' has the instance '%s'; start one with "
                                    "'btctl start %s --instance=%s'",
                                    tree, instance, tree, instance);

        *ret_target = (Target){ .tree = g_ptr_array_steal_index(trees, i) };
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
        if (run_info_has_finished(target.run))
                return report_error("%s has finished: %s", target.run->id, target.run->status);

        *ret_run = g_steal_pointer(&target.run);
        return EXIT_SUCCESS;
}

/* How many of the nodes with one name the message lists. */
#define TOLD_MAX 5u

/* Whether the operand is the whole path, or the end of it after a '/'. */
static bool is_end_of(const char *path, const char *operand) {
        size_t length = strlen(path), n = strlen(operand);

        return n <= length && strcmp(path + length - n, operand) == 0 && (n == length || path[length - n - 1] == '/');
}

/* The numbers are quoted, because '#' starts a comment in a shell. */
static char *describe_many(const GPtrArray *nodes, const char *operand, const GArray *found) {
        GString *text = g_string_new(NULL);
        g_autofree char *first = node_info_path(nodes, g_array_index(found, uint32_t, 0));
        bool differ = false;

        /* Children of one node can have the same path; then only their numbers differ. */
        for (guint i = 1; i < found->len && !differ; i++) {
                g_autofree char *path = node_info_path(nodes, g_array_index(found, uint32_t, i));

                differ = !g_str_equal(path, first);
        }

        g_string_printf(text, "%u nodes are named '%s'; give %sthe number of one:", found->len, operand,
                        differ ? "the path or " : "");
        for (guint i = 0; i < found->len && i < TOLD_MAX; i++) {
                uint32_t index = g_array_index(found, uint32_t, i);
                g_autofree char *path = node_info_path(nodes, index);

                g_string_append_printf(text, "%s '#%u' (%s)", i > 0 ? "," : "", index, path);
        }

        return g_string_free(g_string_append(text, found->len > TOLD_MAX ? ", ..." : ""), false);
}

bool target_choose_node(const GPtrArray *nodes, const char *operand, uint32_t *ret_index, char **ret_error) {
        g_autoptr(GArray) found = g_array_new(false, false, sizeof(uint32_t));
        Nearest nearest = { .word = operand };
        guint64 index;

        if (*operand == '#' && g_ascii_string_to_unsigned(operand + 1, 10, 0, UINT32_MAX, &index, NULL) &&
            index < nodes->len) {
                *ret_index = (uint32_t) index;
                return true;
        }

        for (uint32_t i = 0; i < nodes->len; i++) {
                g_autofree char *path = node_info_path(nodes, i), *plain = tree_plain_path(path),
                                *shown = node_info_path_with_elements(nodes, i);

                if (is_end_of(path, operand) || is_end_of(plain, operand) || is_end_of(shown, operand))
                        g_array_append_val(found, i);
        }
        if (found->len == 1) {
                *ret_index = g_array_index(found, uint32_t, 0);
                return true;
        }

        if (found->len > 1) {
                *ret_error = describe_many(nodes, operand, found);
                return false;
        }

        PTRS_FOREACH(const NodeInfo, node, nodes)
                nearest_offer(&nearest, node->name);
        *ret_error = nearest.best ? g_strdup_printf("no node '%s'; did you mean '%s'?", operand, nearest.best)
                                  : g_strdup_printf("no node '%s'; 'btctl status RUN' shows the nodes", operand);
        return false;
}

int target_find_node(Client *client, const RunInfo *run, const char *operand, uint32_t *ret_index) {
        g_autoptr(GPtrArray) nodes = NULL;
        g_autofree char *error = NULL;
        int status;

        status = node_info_of_run(client, run->path, &nodes);
        if (status == EXIT_SUCCESS && !target_choose_node(nodes, operand, ret_index, &error))
                status = report_error("%s: %s", run->id, error);
        return status;
}
