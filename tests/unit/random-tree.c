/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "random-tree.h"

const NodeType slow_leaf_type = { .name = "slow", .class = NODE_ACTION };
const NodeType quick_leaf_type = { .name = "quick", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE };
const NodeType condition_leaf_type = { .name = "condition", .class = NODE_CONDITION };

static void fill_param(GRand *random, const Param *param, void *params) {
        void *field = (char *) params + param->offset;

        switch (param->kind) {
        case PARAM_BOOL:
                *(bool *) field = g_rand_boolean(random);
                break;
        case PARAM_INT:
                *(int64_t *) field = MAX(param->min, g_rand_int_range(random, -1, 4));
                break;
        case PARAM_SPAN:
                *(uint64_t *) field = (uint64_t) g_rand_int_range(random, 1, 5) * 1000;
                break;
        default:
                break;
        }
}

static void *random_params(RandomTree *random_tree, GRand *random, const NodeType *type) {
        void *params;

        if (type->params_size == 0)
                return NULL;

        params = g_malloc0(type->params_size);
        g_ptr_array_add(random_tree->params, params);
        for (const Param *param = type->params; param->name; param++)
                fill_param(random, param, params);

        return params;
}

static const NodeType *random_type(GRand *random, unsigned depth) {
        static const NodeType *const leaves[] = { &slow_leaf_type, &quick_leaf_type, &condition_leaf_type };
        size_t n = 0;

        if (depth == 0 || g_rand_int_range(random, 0, 4) == 0)
                return leaves[g_rand_int_range(random, 0, G_N_ELEMENTS(leaves))];

        while (engine_types[n])
                n++;

        return engine_types[g_rand_int_range(random, 0, n)];
}

static void grow(RandomTree *random_tree, TreeBuilder *builder, GRand *random, unsigned depth) {
        const NodeType *type = random_type(random, depth);
        unsigned n_children = 0;
        NodeId node = tree_builder_open(builder, type, NULL, random_params(random_tree, random, type));

        if (g_rand_int_range(random, 0, 10) == 0)
                tree_builder_set_flags(builder, node, NODE_GUARDED);
        if (type->class == NODE_DECORATOR)
                n_children = 1;
        else if (type->class == NODE_CONTROL)
                n_children = g_rand_int_range(random, type->min_children, MIN(type->max_children, 4) + 1);

        for (unsigned i = 0; i < n_children; i++)
                grow(random_tree, builder, random, depth - 1);

        tree_builder_close(builder);
}

RandomTree *random_tree_new(GRand *random, unsigned depth) {
        g_autoptr(TreeBuilder) builder = tree_builder_new();
        RandomTree *random_tree = g_new0(RandomTree, 1);

        random_tree->params = g_ptr_array_new_with_free_func(g_free);
        grow(random_tree, builder, random, depth);
        random_tree->tree = tree_builder_finish(builder);
        return random_tree;
}

void random_tree_free(RandomTree *random_tree) {
        if (!random_tree)
                return;

        tree_free(random_tree->tree);
        g_ptr_array_unref(random_tree->params);
        g_free(random_tree);
}

char *tree_to_string(const Tree *tree, NodeId node) {
        g_autoptr(GString) text = g_string_new(NULL);

        g_string_append_printf(text, "%s:%u", tree->nodes[node].type->name, node);
        for (NodeId child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end) {
                g_autofree char *inner = tree_to_string(tree, child);

                g_string_append_printf(text, "%s%s", child == node + 1 ? "(" : ", ", inner);
        }

        if (tree->nodes[node].n_children > 0)
                g_string_append_c(text, ')');

        return g_string_free(g_steal_pointer(&text), false);
}
