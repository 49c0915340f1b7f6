/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The branches: nodes come in depth-first order, so that what stands before a node is what stands before its parent
 * and one piece more. Only the last child of a parent has nothing below its branch.
 */

#include "tree-view.h"
#include "look.h"

typedef struct Branches {
        const char *child, *last_child, *pass, *blank;
} Branches;

static const Branches branches_unicode = { "├─ ", "└─ ", "│  ", "   " };
static const Branches branches_ascii = { "|- ", "`- ", "|  ", "   " };

/* For each node its last child, or 0. */
static uint32_t *find_last_children(const GPtrArray *nodes) {
        uint32_t *last_children = g_new0(uint32_t, nodes->len);

        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i);

                if (node->parent < i)
                        last_children[node->parent] = i;
        }

        return last_children;
}

static void append_node(const Output *output, GString *line, const NodeInfo *node) {
        look_append_symbol(output, line, node->status);
        g_string_append_c(line, ' ');
        node_info_append_label(output, line, node->name, node->type, node->title);
        look_append_outcome(output, line, node->status, node->duration, node->detail);
}

void tree_view_append(const Output *output, GString *text, const GPtrArray *nodes) {
        const Branches *branches = output->ascii ? &branches_ascii : &branches_unicode;
        g_autofree uint32_t *last_children = find_last_children(nodes);
        g_autofree gsize *indents = g_new(gsize, nodes->len); /* how much of indent is for the children of a node */
        g_autoptr(GString) indent = g_string_new(NULL), line = g_string_new(NULL);

        for (guint i = 0; i < nodes->len; i++) {
                const NodeInfo *node = g_ptr_array_index(nodes, i);

                g_string_truncate(indent, node->parent < i ? indents[node->parent] : 0);
                g_string_append(line, indent->str);
                if (node->parent < i) {
                        bool last = last_children[node->parent] == i;

                        g_string_append(line, last ? branches->last_child : branches->child);
                        g_string_append(indent, last ? branches->blank : branches->pass);
                }
                indents[i] = indent->len;

                append_node(output, line, node);
                output_end_line(output, text, line);
        }
}
