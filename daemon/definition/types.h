/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Finds node types by name: one index of all tables, with aliases. The loader uses it, and btctl types. */

#include <glib.h>

#include "engine/type.h"

typedef struct Types Types;

/* tables: a NULL-terminated list of NULL-terminated tables of node types. */
Types *types_new(const NodeType *const *const *tables);
void types_free(Types *types);

/* NULL: no type has this name or alias. */
const NodeType *types_find(const Types *types, const char *name);
/* The name that was probably meant, or NULL. */
const char *types_nearest(const Types *types, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Types, types_free)
