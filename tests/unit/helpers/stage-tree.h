/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes trees from a line of text: "Sequence:s(a, Timeout{timeout=5000}(b[hooks lock]), c!)".
 *
 * A word with a capital is a type of the engine, with its own name behind a colon, and its parameters in braces
 * (spans in microseconds; lists of strings are only given or not). Anything else is a leaf: "a" takes time, "a!" takes
 * time to end when it is halted, "a+" succeeds at once, "a-" fails at once, "a*" raises an error at once, "a?" is a
 * condition, at first unknown. In brackets: guards, hooks, lock, uninterruptible.
 */

#include "engine/tree.h"

typedef struct StageTree {
        Tree *tree;
        GString *traits; /* what stands behind each leaf, ' ' for nothing */
        GStringChunk *names;
        GPtrArray *params;
} StageTree;

StageTree *stage_tree_new(const char *text);
void stage_tree_free(StageTree *tree);

/* By its name. */
NodeId stage_tree_find(const StageTree *tree, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(StageTree, stage_tree_free)
