/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Owns the table of leaf kinds: the code that runs each leaf type. */

#include "leaves/kinds.h"

#define ROW(type, kind) { &type, &kind },

static const struct {
        const NodeType *type;
        const LeafKind *kind;
} kinds[] = { LEAF_TYPES(ROW) };

const LeafKind *leaf_kind_of(const NodeType *type) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (kinds[i].type == type)
                        return kinds[i].kind;

        return NULL;
}
