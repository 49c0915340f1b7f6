/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Selects the rows of a tree for btctl watch. The rows are found again when they are needed after a change; a line is
 * made only when it is drawn, so large trees cost little. */

#include <string.h>

#include "client/view/run-view.h"
#include "client/watch/tree-rows.h"

struct TreeRows {
        GPtrArray *nodes;
        uint32_t *ends;          /* behind the last node below each node */
        uint8_t *folds;          /* TreeFold of each node */
        bool *changed;           /* since the last tree_rows_forget_changes() */
        int64_t *times;          /* when each node was reported: CLOCK_MONOTONIC µs */
        uint32_t *last_children; /* the last shown child of each node */
        bool *wanted;            /* by the filters */
        GArray *shown;           /* indices of nodes */
        bool stale;              /* shown and last_children must be found again */
        bool only_failed, only_changed;
};

static NodeInfo *node_at(const TreeRows *rows, uint32_t index) {
        return g_ptr_array_index(rows->nodes, index);
}

static bool is_active(const NodeInfo *node) {
        static const char *const active[] = { "running", "waiting", "halting", NULL };

        return g_strv_contains(active, node->status);
}

static bool has_failed(const NodeInfo *node) {
        static const char *const failed[] = { "failure", "error", NULL };

        return g_strv_contains(failed, node->status);
}

TreeRows *tree_rows_new(GPtrArray *nodes) {
        TreeRows *rows = g_new0(TreeRows, 1);
        int64_t now = g_get_monotonic_time();

        rows->nodes = nodes;
        rows->ends = g_new0(uint32_t, nodes->len);
        rows->folds = g_new0(uint8_t, nodes->len);
        rows->changed = g_new0(bool, nodes->len);
        rows->times = g_new(int64_t, nodes->len);
        rows->last_children = g_new0(uint32_t, nodes->len);
        rows->wanted = g_new0(bool, nodes->len);
        rows->shown = g_array_new(false, false, sizeof(uint32_t));
        rows->stale = true;
        for (guint i = 0; i < nodes->len; i++)
                rows->times[i] = now;

        /* Nodes come in depth-first order, so a node ends where its last child ends. */
        for (uint32_t i = nodes->len; i > 0; i--) {
                uint32_t index = i - 1, parent = node_at(rows, index)->parent;

                rows->ends[index] = MAX(rows->ends[index], index + 1);
                if (parent < index)
                        rows->ends[parent] = MAX(rows->ends[parent], rows->ends[index]);
        }
        return rows;
}

void tree_rows_free(TreeRows *rows) {
        if (!rows)
                return;

        g_ptr_array_unref(rows->nodes);
        g_free(rows->ends);
        g_free(rows->folds);
        g_free(rows->changed);
        g_free(rows->times);
        g_free(rows->last_children);
        g_free(rows->wanted);
        g_array_unref(rows->shown);
        g_free(rows);
}

const GPtrArray *tree_rows_nodes(const TreeRows *rows) {
        return rows->nodes;
}

/* True: other rows may be shown now. A detail that has changed, such as a time that is left, is no change of the node.
 */
static bool mark_changed(TreeRows *rows, const NodeInfo *before, const NodeInfo *node) {
        bool other = !g_str_equal(before->status, node->status),
             first = (other || before->since != node->since) && !rows->changed[node->index];

        rows->changed[node->index] |= first;
        return other || (first && rows->only_changed);
}

bool tree_rows_replace(TreeRows *rows, GPtrArray *nodes) {
        int64_t now = g_get_monotonic_time();

        if (nodes->len != rows->nodes->len)
                return false;

        for (guint i = 0; i < nodes->len; i++) {
                (void) mark_changed(rows, node_at(rows, i), g_ptr_array_index(nodes, i));
                rows->times[i] = now;
        }
        g_ptr_array_unref(rows->nodes);
        rows->nodes = nodes;
        rows->stale = true;
        return true;
}

void tree_rows_merge(TreeRows *rows, GPtrArray *changed) {
        int64_t now = g_get_monotonic_time();

        for (guint i = 0; i < changed->len; i++) {
                NodeInfo *node = g_ptr_array_index(changed, i), *known;

                if (node->index >= rows->nodes->len)
                        continue;

                known = node_at(rows, node->index);
                g_free(node->title);
                node->title = g_steal_pointer(&known->title);
                node->parent = known->parent;
                rows->stale |= mark_changed(rows, known, node);
                rows->times[node->index] = now;
                node_info_free(known);
                g_ptr_array_index(rows->nodes, node->index) = node;
                g_ptr_array_index(changed, i) = NULL;
        }
}

static bool is_folded(const TreeRows *rows, uint32_t node) {
        static const char *const done[] = { "success", "skipped", "halted", NULL };
        const NodeInfo *info = node_at(rows, node);
        bool has_elements = g_str_equal(info->type, "ForEach") && node + 1 < rows->ends[node] &&
                            rows->ends[node + 1] < rows->ends[node];

        if (rows->ends[node] == node + 1 || rows->folds[node] == TREE_FOLD_OPEN)
                return false;
        if (rows->folds[node] == TREE_FOLD_CLOSED)
                return true;
        if (rows->only_failed || rows->only_changed)
                return false;

        return node > 0 && (g_strv_contains(done, info->status) || has_elements);
}

static void refresh(TreeRows *rows) {
        if (!rows->stale)
                return;

        rows->stale = false;
        for (uint32_t i = 0; i < rows->nodes->len; i++)
                rows->wanted[i] = (!rows->only_failed || has_failed(node_at(rows, i))) &&
                                  (!rows->only_changed || rows->changed[i]);
        for (uint32_t i = rows->nodes->len; i > 1; i--)
                if (rows->wanted[i - 1])
                        rows->wanted[node_at(rows, i - 1)->parent] = true;

        g_array_set_size(rows->shown, 0);
        for (uint32_t i = 0; i < rows->nodes->len;) {
                if (!rows->wanted[i]) {
                        i = rows->ends[i];
                        continue;
                }
                if (i > 0)
                        rows->last_children[node_at(rows, i)->parent] = i;
                g_array_append_val(rows->shown, i);
                i = is_folded(rows, i) ? rows->ends[i] : i + 1;
        }
}

uint32_t tree_rows_count(TreeRows *rows) {
        refresh(rows);
        return rows->shown->len;
}

uint32_t tree_rows_node(TreeRows *rows, uint32_t row) {
        refresh(rows);
        return row < rows->shown->len ? g_array_index(rows->shown, uint32_t, row) : NODE_INFO_ROOT;
}

void tree_rows_details(TreeRows *rows, uint32_t first, uint32_t n, GArray *indices) {
        for (uint32_t row = first; row < first + n && row < tree_rows_count(rows); row++) {
                const NodeInfo *node = node_at(rows, tree_rows_node(rows, row));
                bool in_active = node->parent < node->index && is_active(node_at(rows, node->parent));

                if (*node->detail && (in_active || is_active(node)))
                        g_array_append_val(indices, node->index);
        }
}

/* The last row whose node does not come after this one: the node itself, or what it is folded into. */
uint32_t tree_rows_find(TreeRows *rows, uint32_t node) {
        uint32_t low = 0, high;

        refresh(rows);
        for (high = rows->shown->len; high - low > 1;) {
                uint32_t middle = low + (high - low) / 2;

                if (g_array_index(rows->shown, uint32_t, middle) <= node)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}

uint32_t tree_rows_last_below(TreeRows *rows, uint32_t row) {
        uint32_t node = tree_rows_node(rows, row);

        return node != NODE_INFO_ROOT ? tree_rows_find(rows, rows->ends[node] - 1) : row;
}

void tree_rows_toggle(TreeRows *rows, uint32_t node) {
        if (node >= rows->nodes->len)
                return;
        if (rows->ends[node] == node + 1)
                node = node_at(rows, node)->parent;
        if (node >= rows->nodes->len)
                return;

        rows->folds[node] = is_folded(rows, node) ? TREE_FOLD_OPEN : TREE_FOLD_CLOSED;
        rows->stale = true;
}

void tree_rows_fold_all(TreeRows *rows, TreeFold fold) {
        memset(rows->folds, (int) fold, rows->nodes->len);
        if (fold == TREE_FOLD_CLOSED && rows->nodes->len > 0)
                rows->folds[0] = TREE_FOLD_OPEN;
        rows->stale = true;
}

void tree_rows_show_failed(TreeRows *rows, bool only) {
        rows->only_failed = only;
        rows->stale = true;
}

void tree_rows_show_changed(TreeRows *rows, bool only) {
        rows->only_changed = only;
        rows->stale = true;
}

bool tree_rows_only_failed(const TreeRows *rows) {
        return rows->only_failed;
}

bool tree_rows_only_changed(const TreeRows *rows) {
        return rows->only_changed;
}

void tree_rows_forget_changes(TreeRows *rows) {
        memset(rows->changed, 0, rows->nodes->len * sizeof(*rows->changed));
        rows->stale = true;
}

static bool contains(const char *text, const char *folded) {
        g_autofree char *lower = text ? g_utf8_casefold(text, -1) : NULL;

        return lower && strstr(lower, folded);
}

bool tree_rows_search(TreeRows *rows, const char *text, uint32_t after, bool backwards, uint32_t *ret_node) {
        g_autofree char *folded = g_utf8_casefold(text, -1);
        uint32_t n = rows->nodes->len;

        refresh(rows);
        for (uint32_t k = 1; k <= n; k++) {
                uint32_t i = (after + (backwards ? n - k : k)) % n;
                const NodeInfo *node = node_at(rows, i);

                if (!rows->wanted[i] || !(contains(node->name, folded) || contains(node->type, folded) ||
                                          contains(node->title, folded) || contains(node->detail, folded)))
                        continue;

                for (uint32_t above = node->parent; above < n; above = node_at(rows, above)->parent)
                        if (is_folded(rows, above))
                                rows->folds[above] = TREE_FOLD_OPEN;
                rows->stale = true;
                *ret_node = i;
                return true;
        }

        return false;
}

bool tree_rows_is_active(const TreeRows *rows, uint32_t node) {
        return node < rows->nodes->len && rows->ends[node] == node + 1 &&
               (is_active(node_at(rows, node)) || has_failed(node_at(rows, node)));
}

uint32_t tree_rows_active(const TreeRows *rows) {
        uint32_t best = 0;
        int64_t newest = -1;

        for (uint32_t i = 0; i < rows->nodes->len; i++) {
                const NodeInfo *node = node_at(rows, i);

                if (tree_rows_is_active(rows, i) && (int64_t) node->since >= newest) {
                        best = i;
                        newest = (int64_t) node->since;
                }
        }

        return best;
}

void tree_rows_append(TreeRows *rows, const Output *output, GString *line, uint32_t row, int64_t now) {
        uint32_t index = tree_rows_node(rows, row), n;
        NodeInfo *node;
        uint64_t duration;

        if (index == NODE_INFO_ROOT)
                return;

        node = node_at(rows, index);
        duration = node->duration;
        if (now > rows->times[index] && is_active(node))
                node->duration += (uint64_t) (now - rows->times[index]);
        tree_view_append_node(output, line, rows->nodes, rows->last_children, index);
        node->duration = duration;
        if (!is_folded(rows, index))
                return;

        /* A number of nodes would be misleading for a ForEach: its nodes are those of a few elements. */
        n = rows->ends[index] - index - 1;
        if (g_str_equal(node->type, "ForEach"))
                output_append(output, line, STYLE_DIM, " [+]");
        else
                output_appendf(output, line, STYLE_DIM, n == 1 ? " [%u node]" : " [%u nodes]", n);
}
