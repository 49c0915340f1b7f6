/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tables of node types, put together. */

#include "node-types.h"
#include "leaves/leaf.h"

const NodeType *const *const node_type_tables[] = { engine_types, leaf_types, NULL };

GPtrArray *node_types_list(void) {
        GPtrArray *types = g_ptr_array_new();

        for (const NodeType *const *const *table = node_type_tables; *table; table++)
                for (const NodeType *const *type = *table; *type; type++)
                        g_ptr_array_add(types, (NodeType *) *type);

        return types;
}
