/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finding the node of an operand among those of a run. */

#include <string.h>

#include "basic/nearest.h"
#include "node-target.h"

/* How many of the nodes that could have been meant are told. */
#define TOLD_MAX 5u

static bool is_index(const GPtrArray *nodes, const char *operand, uint32_t *ret_index) {
        guint64 index;

        if (*operand != '#' || !g_ascii_string_to_unsigned(operand + 1, 10, 0, UINT32_MAX, &index, NULL) ||
            index >= nodes->len)
                return false;

        *ret_index = (uint32_t) index;
        return true;
}

/* Is the operand all of the path, or the end of it behind a '/'? */
static bool is_end_of(const char *path, const char *operand) {
        size_t length = strlen(path), n = strlen(operand);

        return n <= length && strcmp(path + length - n, operand) == 0 && (n == length || path[length - n - 1] == '/');
}

static GArray *find_all(const GPtrArray *nodes, const char *operand) {
        GArray *found = g_array_new(false, false, sizeof(uint32_t));

        for (uint32_t i = 0; i < nodes->len; i++) {
                g_autofree char *path = node_info_path(nodes, i);

                if (is_end_of(path, operand))
                        g_array_append_val(found, i);
        }

        return found;
}

/* A path tells them apart, unless they are children of one node. */
static bool has_path_of_its_own(const GPtrArray *nodes, const GArray *found) {
        g_autofree char *first = node_info_path(nodes, g_array_index(found, uint32_t, 0));

        for (guint i = 1; i < found->len; i++) {
                g_autofree char *path = node_info_path(nodes, g_array_index(found, uint32_t, i));

                if (!g_str_equal(path, first))
                        return true;
        }

        return false;
}

/* In quotes, since '#' begins a comment in a shell. */
static char *describe_many(const GPtrArray *nodes, const char *operand, const GArray *found) {
        GString *text = g_string_new(NULL);

        g_string_printf(text, "%u nodes are called '%s'; give %sthe number of one:", found->len, operand,
                        has_path_of_its_own(nodes, found) ? "the path or " : "");
        for (guint i = 0; i < found->len && i < TOLD_MAX; i++) {
                uint32_t index = g_array_index(found, uint32_t, i);
                g_autofree char *path = node_info_path(nodes, index);

                g_string_append_printf(text, "%s '#%u' (%s)", i > 0 ? "," : "", index, path);
        }

        return g_string_free(g_string_append(text, found->len > TOLD_MAX ? ", ..." : ""), false);
}

static char *describe_none(const GPtrArray *nodes, const char *operand) {
        Nearest nearest = { .word = operand };

        for (guint i = 0; i < nodes->len; i++)
                nearest_offer(&nearest, ((const NodeInfo *) g_ptr_array_index(nodes, i))->name);

        return nearest.best ? g_strdup_printf("no node '%s'; did you mean '%s'?", operand, nearest.best)
                            : g_strdup_printf("no node '%s'; 'btctl status' shows those that there are", operand);
}

bool node_target_choose(const GPtrArray *nodes, const char *operand, uint32_t *ret_index, char **ret_error) {
        g_autoptr(GArray) found = NULL;

        if (is_index(nodes, operand, ret_index))
                return true;

        found = find_all(nodes, operand);
        if (found->len == 1) {
                *ret_index = g_array_index(found, uint32_t, 0);
                return true;
        }

        *ret_error = found->len > 1 ? describe_many(nodes, operand, found) : describe_none(nodes, operand);
        return false;
}

int node_target_find(Client *client, const RunInfo *run, const char *operand, uint32_t *ret_index) {
        g_autoptr(GPtrArray) nodes = NULL;
        g_autofree char *error = NULL;
        int status;

        status = node_info_of_run(client, run->path, &nodes);
        if (status != EXIT_SUCCESS)
                return status;

        return node_target_choose(nodes, operand, ret_index, &error) ? EXIT_SUCCESS
                                                                     : report_error("%s: %s", run->id, error);
}
