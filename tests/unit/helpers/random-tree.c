/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "random-tree.h"

const NodeType slow_leaf_type = { .name = "slow", .class = NODE_ACTION };
const NodeType quick_leaf_type = { .name = "quick", .class = NODE_ACTION, .flags = TYPE_IMMEDIATE };
const NodeType condition_leaf_type = { .name = "condition", .class = NODE_CONDITION };

static const char *const some_causes[] = { "timeout", NULL };

static void fill_param(Dice *dice, const Param *param, void *params) {
        void *field = (char *) params + param->offset;

        switch (param->kind) {
        case PARAM_BOOL:
                *(bool *) field = dice_roll(dice, 2);
                break;
        case PARAM_INT:
                *(int64_t *) field = MAX(param->min, (int64_t) dice_roll(dice, 5) - 1);
                break;
        case PARAM_SPAN:
                *(uint64_t *) field = (uint64_t) (1 + dice_roll(dice, 4)) * 1000;
                break;
        case PARAM_ENUM:
                *(int *) field = dice_roll(dice, (int) g_strv_length((char **) param->values));
                break;
        case PARAM_STRINGS:
                *(const char *const **) field = param->causes && dice_roll(dice, 2) ? some_causes : NULL;
                break;
        default:
                break;
        }
}

static void *random_params(RandomTree *random_tree, Dice *dice, const NodeType *type) {
        void *params;

        if (type->params_size == 0)
                return NULL;

        params = g_malloc0(type->params_size);
        g_ptr_array_add(random_tree->params, params);
        for (const Param *param = type->params; param->name; param++)
                fill_param(dice, param, params);

        return params;
}

/* What a WaitFor can wait for: NULL, if it is to be a condition. */
static const NodeType *random_live_type(Dice *dice) {
        static const char *const names[] = { "Sequence", "Fallback", "ReactiveSequence",
                                             "Inverter", "Parallel", "SubTree" };
        uint32_t n = dice_roll(dice, 2 * G_N_ELEMENTS(names));

        for (const NodeType *const *type = engine_types; *type && n < G_N_ELEMENTS(names); type++)
                if (g_str_equal((*type)->name, names[n]))
                        return *type;

        return &condition_leaf_type;
}

static const NodeType *random_type(Dice *dice, unsigned depth, bool live) {
        static const NodeType *const leaves[] = { &slow_leaf_type, &quick_leaf_type, &condition_leaf_type };
        size_t n = 0;

        if (live)
                return depth == 0 ? &condition_leaf_type : random_live_type(dice);
        if (depth == 0 || dice_roll(dice, 4) == 0)
                return leaves[dice_roll(dice, G_N_ELEMENTS(leaves))];

        while (engine_types[n])
                n++;

        return engine_types[dice_roll(dice, n)];
}

static unsigned random_flags(Dice *dice) {
        static const unsigned flags[] = { NODE_GUARDED, NODE_HOOKED, NODE_LOCKED, NODE_UNINTERRUPTIBLE, NODE_MAY_FAIL };
        unsigned some = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
                if (dice_roll(dice, 10) == 0)
                        some |= flags[i];

        return some;
}

static unsigned random_n_children(Dice *dice, const NodeType *type) {
        if (type->flags & TYPE_FOR_EACH)
                return 1 + dice_roll(dice, 3);
        if (type->class == NODE_CONTROL)
                return type->min_children + dice_roll(dice, MIN(type->max_children, 4) - type->min_children + 1);

        return type->class == NODE_DECORATOR;
}

/* live: only conditions, and what consists of them. plain: without attributes. */
static void grow(RandomTree *random_tree, TreeBuilder *builder, Dice *dice, unsigned depth, bool live, bool plain) {
        const NodeType *type = random_type(dice, depth, live);
        NodeId node = tree_builder_open(builder, type, NULL, random_params(random_tree, dice, type));

        if (!live && !plain)
                tree_builder_set_flags(builder, node, random_flags(dice));
        for (unsigned n = random_n_children(dice, type); n > 0; n--)
                grow(random_tree, builder, dice, depth - 1, live || g_str_equal(type->name, "WaitFor"), plain);

        tree_builder_close(builder);
}

static const NodeType *find_type(const char *name) {
        for (const NodeType *const *type = engine_types;; type++)
                if (g_str_equal((*type)->name, name))
                        return *type;
}

/* Now and then a Finally around everything. */
static void grow_root(RandomTree *random_tree, TreeBuilder *builder, Dice *dice, unsigned depth, bool plain) {
        const NodeType *type = find_type("Finally");

        if (dice_roll(dice, 5) != 0) {
                grow(random_tree, builder, dice, depth, false, plain);
                return;
        }

        tree_builder_open(builder, type, NULL, random_params(random_tree, dice, type));
        grow(random_tree, builder, dice, depth, false, plain);
        grow(random_tree, builder, dice, 1, false, plain);
        tree_builder_close(builder);
}

RandomTree *random_tree_new(Dice *dice, unsigned depth) {
        g_autoptr(TreeBuilder) builder = tree_builder_new(0);
        RandomTree *random_tree = g_new0(RandomTree, 1);

        random_tree->params = g_ptr_array_new_with_free_func(g_free);
        grow_root(random_tree, builder, dice, depth, dice_roll(dice, 4) == 0);
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

static void append_attributes(GString *text, unsigned flags) {
        static const struct {
                unsigned flag;
                const char *name;
        } names[] = {
                { NODE_GUARDED, "guards" },    { NODE_HOOKED, "hooks" },
                { NODE_LOCKED, "lock" },       { NODE_UNINTERRUPTIBLE, "uninterruptible" },
                { NODE_MAY_FAIL, "may fail" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (flags & names[i].flag)
                        g_string_append_printf(text, "[%s]", names[i].name);
}

char *tree_to_string(const Tree *tree, NodeId node) {
        g_autoptr(GString) text = g_string_new(NULL);

        g_string_append_printf(text, "%s:%u", tree->nodes[node].type->name, node);
        append_attributes(text, tree->nodes[node].flags);
        for (NodeId child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end) {
                g_autofree char *inner = tree_to_string(tree, child);

                g_string_append_printf(text, "%s%s", child == node + 1 ? "(" : ", ", inner);
        }

        if (tree->nodes[node].n_children > 0)
                g_string_append_c(text, ')');

        return g_string_free(g_steal_pointer(&text), false);
}
