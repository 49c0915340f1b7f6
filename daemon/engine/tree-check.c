/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What cannot work or is a trap about a node, as its type and its attributes tell. */

#include "engine/tree.h"
#include "engine/types/outlook.h"

char *tree_check_node(const Tree *tree, NodeId node, bool *ret_is_error) {
        const Node *definition = &tree->nodes[node];
        char *text = definition->type->check ? definition->type->check(tree, node, ret_is_error) : NULL;

        if (text || !(definition->flags & NODE_UNINTERRUPTIBLE) || !outlook_is_endless(definition))
                return text;

        *ret_is_error = false;
        return g_strdup("it never ends, and is uninterruptible: nothing can halt it");
}
