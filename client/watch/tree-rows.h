/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The rows of a tree on the screen of btctl watch: which nodes are shown, by folding and by filters, and how.
 */

#include "client/bus/node-info.h"

typedef struct TreeRows TreeRows;

/* nodes: all of the tree, each at its index. Takes them. */
TreeRows *tree_rows_new(GPtrArray *nodes);
void tree_rows_free(TreeRows *rows);

/* Replaces all nodes, and marks those that differ as changed. Takes them. False: it is another tree. */
bool tree_rows_replace(TreeRows *rows, GPtrArray *nodes);
/* Takes the changed nodes, with or without titles, out of the array. */
void tree_rows_merge(TreeRows *rows, GPtrArray *changed);

const GPtrArray *tree_rows_nodes(const TreeRows *rows);
uint32_t tree_rows_count(TreeRows *rows);
/* The node in a row; NODE_INFO_ROOT: there is no such row. */
uint32_t tree_rows_node(TreeRows *rows, uint32_t row);
/* Appends the indices of nodes in these rows whose details can change while their state does not: a time that is left,
 * the values that a condition has seen. */
void tree_rows_details(TreeRows *rows, uint32_t first, uint32_t n, GArray *indices);
/* The row of the node, or of what it is folded into. */
uint32_t tree_rows_find(TreeRows *rows, uint32_t node);

/* The last row with a node below the node of this row; this row, if there is none. */
uint32_t tree_rows_last_below(TreeRows *rows, uint32_t row);

/* Folds or unfolds a node by hand; a node without children: the one above it. */
void tree_rows_toggle(TreeRows *rows, uint32_t node);
/* Folds or unfolds all nodes; or lets finished parts fold themselves again. */
typedef enum TreeFold {
        TREE_FOLD_AUTO, /* finished parts and the elements of a ForEach are folded */
        TREE_FOLD_OPEN,
        TREE_FOLD_CLOSED,
} TreeFold;
void tree_rows_fold_all(TreeRows *rows, TreeFold fold);

/* Shows only nodes that failed, or that have changed; and those above them. */
void tree_rows_show_failed(TreeRows *rows, bool only);
void tree_rows_show_changed(TreeRows *rows, bool only);
bool tree_rows_only_failed(const TreeRows *rows);
bool tree_rows_only_changed(const TreeRows *rows);
/* From now on, no node counts as changed. */
void tree_rows_forget_changes(TreeRows *rows);

/* The next node after this one whose name, type, title or detail contains the text, in any case; unfolds what it is in.
 * False: none has it. */
bool tree_rows_search(TreeRows *rows, const char *text, uint32_t after, bool backwards, uint32_t *ret_node);
/* The node to keep in sight: of the leaves that run and the nodes that failed last, the one that changed last. */
uint32_t tree_rows_active(const TreeRows *rows);
/* Does the node run, or has it failed, and is it a leaf? tree_rows_active() returns one of these. */
bool tree_rows_is_active(const TreeRows *rows, uint32_t node);

/* Appends the line of a row. now: CLOCK_MONOTONIC µs, for the time of what runs; 0: as it was reported. */
void tree_rows_append(TreeRows *rows, const Output *output, GString *line, uint32_t row, int64_t now);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeRows, tree_rows_free)
