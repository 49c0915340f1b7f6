/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements types.h. The index is made for each load: it is small, and no global state is needed. */

#include "definition/types.h"
#include "basic/nearest.h"

struct Types {
        GHashTable *by_name; /* name or alias -> NodeType, all borrowed */
        const NodeType *const *const *tables;
};

Types *types_new(const NodeType *const *const *tables) {
        Types *types = g_new0(Types, 1);

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

void types_free(Types *types) {
        if (!types)
                return;

        g_hash_table_unref(types->by_name);
        g_free(types);
}

const NodeType *types_find(const Types *types, const char *name) {
        return g_hash_table_lookup(types->by_name, name);
}

/* Searches in the order of the tables, so that the result is always the same. */
const char *types_nearest(const Types *types, const char *name) {
        Nearest nearest = { .word = name };

        for (const NodeType *const *const *table = types->tables; *table; table++)
                for (const NodeType *const *type = *table; *type; type++) {
                        nearest_offer(&nearest, (*type)->name);
                        for (const char *const *alias = (*type)->aliases; alias && *alias; alias++)
                                nearest_offer(&nearest, *alias);
                }

        return nearest.best;
}
