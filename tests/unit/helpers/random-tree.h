/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes random trees for property tests: any of the engine's types, with parameters within their limits and with
 * attributes, over three kinds of leaves. The same dice give the same tree.
 */

#include "dice.h"
#include "engine/tree.h"

/* An action that takes time, one that completes at once, and a condition. */
extern const NodeType slow_leaf_type, quick_leaf_type, condition_leaf_type;

typedef struct RandomTree {
        Tree *tree;
        GPtrArray *params; /* the structs that the tree borrows */
} RandomTree;

RandomTree *random_tree_new(Dice *dice, unsigned depth);
void random_tree_free(RandomTree *random_tree);

/* "Sequence:0[lock](slow:1, Inverter:2(condition:3))", to be freed. */
char *tree_to_string(const Tree *tree, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RandomTree, random_tree_free)
