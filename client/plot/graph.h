/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Draws the nodes of a tree or of a run as a picture of the tree, for btctl graph.
 */

#include "client/bus/node-info.h"

typedef struct GraphNode {
        const NodeInfo *info;
        GPtrArray *notes; /* texts: guards and other attributes; NULL: not known */
} GraphNode;

typedef struct Graph {
        const char *title;    /* "boot.3"; this and the subtitle are clean text */
        const char *subtitle; /* "failure: ..."; may be empty */
        bool is_run;          /* the nodes have states */
        const char *timeline; /* of a page, by plot_html(); NULL: none */
        GraphNode *nodes;     /* in depth-first order, each at its index */
        uint32_t n_nodes;
} Graph;

/* To be freed. */
typedef char *(*GraphFormat)(const Graph *graph);

/* SVG 1.1, from left to right. Parts of large trees are folded, so that there are not too many boxes. */
char *graph_svg(const Graph *graph);
/* A page that needs no other files, with the tree and, of a run, the timeline; both can be folded. */
char *graph_html(const Graph *graph);
/* The languages of graphviz and Mermaid, with all nodes. */
char *graph_dot(const Graph *graph);
char *graph_mermaid(const Graph *graph);

/* The texts of a box: the label, the notes, and in a run, the state and the cause. To be unreferenced. */
GPtrArray *graph_lines(const Graph *graph, const GraphNode *node);
/* As fold_nodes(); in a run, subtrees in which nothing runs or has failed are folded first. To be freed. */
uint32_t *graph_fold(const Graph *graph, uint32_t max);
