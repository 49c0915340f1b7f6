/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds node types by name: one index of all tables, with aliases. The loader uses it, and btctl types. */

#include <glib.h>

#include "engine/type.h"

typedef struct TypeIndex TypeIndex;

/* tables: a NULL-terminated list of NULL-terminated tables of node types. */
TypeIndex *type_index_new(const NodeType *const *const *tables);
void type_index_free(TypeIndex *types);

/* NULL: no type has this name or alias. */
const NodeType *type_index_find(const TypeIndex *types, const char *name);
/* The name that was probably meant, or NULL. */
const char *type_index_nearest(const TypeIndex *types, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TypeIndex, type_index_free)
