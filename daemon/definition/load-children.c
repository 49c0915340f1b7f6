/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks that a node has as many children as its type takes, and under the right key. The reader of nodes uses it. */

#include "definition/loader.h"

/* Reports that the children of the node are wrong; format is the text after "a Sequence ". */
static void wrong_shape(Loader *loader, Reading *reading, uint32_t item, const char *format, ...) G_GNUC_PRINTF(4, 5);

static void wrong_shape(Loader *loader, Reading *reading, uint32_t item, const char *format, ...) {
        g_autofree char *owner = with_article(reading->type->name), *what = NULL;
        va_list args;

        va_start(args, format);
        what = g_strdup_vprintf(format, args);
        va_end(args);

        loader_give_up_node(loader);
        reading_error(loader, reading, item, g_strdup_printf("%s %s", owner, what));
}

static void check_leaf(Loader *loader, Reading *reading) {
        Key key = reading->keys[KEY_CHILDREN] ? KEY_CHILDREN : KEY_CHILD;

        if (reading->keys[key] > 0)
                wrong_shape(loader, reading, reading->keys[key] - 1, "is a leaf, so it takes no '%s'",
                            loader_key_names[key]);
}

static void check_decorator(Loader *loader, Reading *reading) {
        if (reading->keys[KEY_CHILDREN] > 0)
                wrong_shape(loader, reading, reading->keys[KEY_CHILDREN] - 1,
                            "has one child: it takes 'child', a node, not 'children'");
        else if (reading->keys[KEY_CHILD] == 0)
                wrong_shape(loader, reading, reading->item, "needs a 'child', a node, and none is given");
}

/* The child of a SubTree is the tree that it names. */
static void check_subtree(Loader *loader, Reading *reading) {
        Key key = reading->keys[KEY_CHILDREN] ? KEY_CHILDREN : KEY_CHILD;

        if (reading->keys[key] > 0)
                wrong_shape(loader, reading, reading->keys[key] - 1,
                            "takes no '%s', since what it runs is the tree that it names", loader_key_names[key]);
}

static char *describe_arity(const NodeType *type) {
        uint32_t min = type->min_children, max = type->max_children;

        if (max == UINT32_MAX)
                return g_strdup_printf("at least %u %s", min, min == 1 ? "child" : "children");
        if (max == min)
                return g_strdup_printf("exactly %u %s", min, min == 1 ? "child" : "children");

        return g_strdup_printf("%u to %u children", min, max);
}

static void check_count(Loader *loader, Reading *reading, uint32_t array) {
        const NodeType *type = reading->type;
        uint32_t n = text_item(loader_text(loader), array)->count;
        g_autofree char *arity = NULL;

        if (n >= type->min_children && n <= type->max_children)
                return;

        arity = describe_arity(type);
        wrong_shape(loader, reading, array, "takes %s, not %u", arity, n);
}

static void check_control(Loader *loader, Reading *reading) {
        uint32_t item = reading->keys[KEY_CHILDREN];

        if (reading->keys[KEY_CHILD] > 0)
                wrong_shape(loader, reading, reading->keys[KEY_CHILD] - 1,
                            "takes 'children', an array of nodes, not 'child'");
        else if (item == 0)
                wrong_shape(loader, reading, reading->item, "needs 'children', an array of nodes, and none is given");

        if (item > 0 && text_kind(loader_text(loader), item) == TEXT_ARRAY)
                check_count(loader, reading, item);
}

void loader_check_children(Loader *loader, Reading *reading) {
        uint32_t item = reading->keys[KEY_CHILDREN], child = reading->keys[KEY_CHILD];

        /* If the type does not take the key at all, only that is reported. */
        if (item > 0 && (!reading->type || reading->type->class == NODE_CONTROL) &&
            text_kind(loader_text(loader), item) != TEXT_ARRAY) {
                loader_give_up_node(loader);
                reading_error(loader, reading, item,
                              loader_unexpected(loader, item, "children: expected an array of nodes"));
        }
        if (child > 0 && (!reading->type || reading->type->class == NODE_DECORATOR) &&
            text_kind(loader_text(loader), child) == TEXT_ARRAY) {
                loader_give_up_node(loader);
                reading_error(loader, reading, child, g_strdup("child: expected one node, not an array"));
        }

        if (!reading->type)
                return;
        if (reading->type->class == NODE_CONTROL)
                check_control(loader, reading);
        else if (reading->type->flags & TYPE_SUBTREE)
                check_subtree(loader, reading);
        else if (reading->type->class == NODE_DECORATOR)
                check_decorator(loader, reading);
        else
                check_leaf(loader, reading);
}
