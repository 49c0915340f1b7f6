/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements type-index.h. The index is made for each load: it is small, and no global state is needed. */

#include "definition/type-index.h"
#include "basic/nearest.h"

struct TypeIndex {
        GHashTable *by_name; /* name or alias -> NodeType, all borrowed */
        const NodeType *const *const *tables;
};

TypeIndex *type_index_new(const NodeType *const *const *tables) {
        TypeIndex *types = g_new0(TypeIndex, 1);

        types->tables = tables;
        types->by_name = g_hash_table_new(g_str_hash, g_str_equal);

        for (const NodeType *const *const *table = tables; *table; table++)
                for (const NodeType *const *type = *table; *type; type++) {
                        g_hash_table_insert(types->by_name, (char *) (*type)->name, (NodeType *) *type);
                        for (const char *const *alias = (*type)->aliases; alias && *alias; alias++)
                                g_hash_table_insert(types->by_name, (char *) *alias, (NodeType *) *type);
                }

        return types;
}

void type_index_free(TypeIndex *types) {
        if (!types)
                return;

        g_hash_table_unref(types->by_name);
        g_free(types);
}

const NodeType *type_index_find(const TypeIndex *types, const char *name) {
        return g_hash_table_lookup(types->by_name, name);
}

/* Searches in the order of the tables, so that the result is always the same. */
const char *type_index_nearest(const TypeIndex *types, const char *name) {
        Nearest nearest = { .word = name };

        for (const NodeType *const *const *table = types->tables; *table; table++)
                for (const NodeType *const *type = *table; *type; type++) {
                        nearest_offer(&nearest, (*type)->name);
                        for (const char *const *alias = (*type)->aliases; alias && *alias; alias++)
                                nearest_offer(&nearest, *alias);
                }

        return nearest.best;
}
