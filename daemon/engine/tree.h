/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Holds the immutable structure of a tree, which all its runs share: one contiguous array of nodes in
 * depth-first order, so that a node's descendants are the range (node, end). The first child of a
 * node is node + 1, the next sibling of a child is its end. Parameters are borrowed from the
 * definition that built the tree, and must outlive it.
 */

#include <glib.h>

#include "engine/type.h"

#define TREE_DEPTH_MAX 1000u
#define TREE_NODES_MAX 1000000u

typedef enum NodeFlags {
        NODE_LEAF = 1 << 0,
        NODE_LIVE = 1 << 1,     /* a live condition, or a pure composition of only such */
        NODE_RETAINED = 1 << 2, /* below a reactive node, which evaluates its conditions again when they change */
        NODE_GUARDED = 1 << 3,  /* has guards */
        NODE_IMMEDIATE = 1 << 4,
        NODE_PLAIN_LEAF = 1 << 5, /* an action without guards */
        NODE_PASSED = 1 << 6,     /* routes lead through it from leaf to leaf, see Route */
        NODE_NEVER_FAILS = TYPE_NEVER_FAILS,
        NODE_NEVER_SUCCEEDS = TYPE_NEVER_SUCCEEDS,
        NODE_MAY_SKIP = TYPE_SKIPS,     /* it, or a node in it, may be skipped */
        NODE_SLOW = 1 << 10,            /* it, or a node in it, is an action that takes time whenever it runs */
        NODE_HOOKED = 1 << 11,          /* has code that runs after it */
        NODE_LOCKED = 1 << 12,          /* has a lock, which it holds from its start to its end */
        NODE_CONDITIONAL = 1 << 14,     /* live, but for SubTrees in it, which must be entered for each evaluation */
        NODE_UNINTERRUPTIBLE = 1 << 13, /* continues to its end when it is halted; not for conditions */
        NODE_PASSIVE = 1 << 15,         /* made of conditions and guards only: evaluating it again has no effects */
        NODE_MAY_FAIL = 1 << 16,        /* for its parent, its FAILURE is a SUCCESS */
        NODE_LATE = 1 << 17,            /* a control or decorator whose host fills in parameters: see node_params() */
        /* Handled in node-attributes.c. */
        NODE_ATTRIBUTED = NODE_HOOKED | NODE_LOCKED | NODE_UNINTERRUPTIBLE | NODE_MAY_FAIL,
} NodeFlags;

struct Node {
        const NodeType *type;
        const void *params;
        NodeId parent; /* NODE_NONE for the root */
        NodeId end;    /* one past the last descendant */
        uint32_t n_children;
        uint32_t flags : 21, depth : 11; /* depth: 0 for the root */
};

G_STATIC_ASSERT(TREE_DEPTH_MAX < 1 << 11);

/*
 * For a node whose parent's type has a course: the node that begins next after its outcome or, with ROUTE_OUT, the
 * outcome of the nearest node above that is not NODE_PASSED.
 */
typedef struct Route {
        NodeId after[2]; /* SUCCESS and FAILURE */
} Route;

G_STATIC_ASSERT(STATUS_FAILURE == STATUS_SUCCESS + 1);

#define ROUTE_OUT (UINT32_C(1) << 31)

struct Tree {
        Node *nodes;
        Route *routes;      /* of all nodes */
        const char **names; /* from the tree file; NULL: the type's name */
        char **copy_names;  /* owned names of the copies in ForEach nodes, NULL-terminated; or NULL */
        uint32_t n_nodes;
        bool attributed;   /* some node is NODE_ATTRIBUTED */
        uint64_t interval; /* µs between two ticks that only the tree itself asks for */
};

#define TREE_INTERVAL_DEFAULT (100 * 1000u)

typedef struct TreeBuilder TreeBuilder;

/* n_nodes: the number of nodes if known, else 0. */
TreeBuilder *tree_builder_new(uint32_t n_nodes);
void tree_builder_free(TreeBuilder *builder);

/* Adds a node below the open one, and opens it. name and params are borrowed. */
NodeId tree_builder_open(TreeBuilder *builder, const NodeType *type, const char *name, const void *params);
/* flags: of NODE_GUARDED, NODE_HOOKED, NODE_LOCKED, NODE_UNINTERRUPTIBLE, NODE_MAY_FAIL, NODE_LATE. To be called before
 * the node is closed. */
void tree_builder_set_flags(TreeBuilder *builder, NodeId node, unsigned flags);
void tree_builder_close(TreeBuilder *builder);

/* The finished tree. Afterwards the builder is empty and can only be freed. */
Tree *tree_builder_finish(TreeBuilder *builder);

void tree_free(Tree *tree);

/* Receives the errors and warnings that the check of a type finds in a node. param: the parameter to point at, NULL:
 * the node. element: of the parameter, from 0; -1: all of it. text is taken. */
struct Findings {
        void (*add)(Findings *findings, const char *param, int element, bool is_error, char *text);
        NodeId node; /* the place: the node that is checked, or one below it */
};

/* In place of an element: their number, which is known also if one of them is wrong. */
#define FINDING_COUNT (-2)

/* The node cannot work. */
void findings_error(Findings *findings, const char *param, int element, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* It can work, but is probably not meant. */
void findings_trap(Findings *findings, const char *param, const char *format, ...) G_GNUC_PRINTF(3, 4);

void tree_check_node(const Tree *tree, NodeId node, Findings *findings);

/* The node's n-th child, from 0, or NODE_NONE. */
NodeId tree_nth_child(const Tree *tree, NodeId node, uint32_t n);

/* Nodes that run at the same time must have names of their own: if a ForEach has several copies of its child, adds a
 * number to the name of each copy, from 1: "One[2]". Call it once. */
void tree_name_copies(Tree *tree);
/* The node's name from the tree file, else its type's; both with the number of a copy. */
const char *tree_node_name(const Tree *tree, NodeId node);
/* "Sequence/ParallelLoad/LoadConfig": the names from the root down. To be freed. */
char *tree_node_path(const Tree *tree, NodeId node);

/* The name of the child of a ForEach with its element: "One[s3]", or "One[2: s3]" for a copy. To be freed. */
char *tree_element_label(const char *name, const char *element);

/* "All/One" for "All/One[2]": without the numbers of copies. To be freed. */
char *tree_plain_path(const char *path);

/* For the node types: which outcomes a node can have, from the flags of its children (NODE_NEVER_FAILS,
 * NODE_NEVER_SUCCEEDS, NODE_MAY_SKIP, NODE_SLOW), and warnings of nodes that can never run. */

/* For NodeType.never of a type with the same outcomes as its child. */
unsigned outcomes_of_child(const Node *nodes, NodeId node);

/* For NodeType.never of a type that runs its children in order, while they succeed or while they fail. */
unsigned outcomes_in_sequence(const Node *nodes, NodeId node);
unsigned outcomes_in_fallback(const Node *nodes, NodeId node);
/* The same for the children before end. continue_on: the outcome (as its NODE_NEVER_*) after which the next one
 * follows.
 */
unsigned outcomes_in_order(const Node *nodes, NodeId node, NodeId end, unsigned continue_on);

/* The node never has this outcome (NODE_NEVER_*), and is never skipped. */
static inline bool outcome_is_impossible(const Node *node, unsigned never) {
        return (node->flags & (never | NODE_MAY_SKIP)) == never;
}

/* The node never completes. */
static inline bool node_runs_forever(const Node *node) {
        return outcome_is_impossible(node, NODE_NEVER_FAILS | NODE_NEVER_SUCCEEDS);
}

/* The number of children that may have the outcome. */
uint32_t outcomes_count(const Node *nodes, NodeId node, unsigned never);

/* For NodeType.check: warns if a child keeps the children after it from ever running. */
void outcomes_check_sequence(const Tree *tree, NodeId node, Findings *findings);
/* The same for the children before end, and either outcome, as above. */
void outcomes_check_in_order(const Tree *tree, NodeId node, NodeId end, unsigned continue_on, Findings *findings);

/* For NodeType.check: warns that the other node can never run if this one never has the outcome. */
void outcomes_check_other(const Tree *tree, NodeId node, unsigned never, NodeId other, Findings *findings);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tree, tree_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeBuilder, tree_builder_free)
