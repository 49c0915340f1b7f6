/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Node types by name: all tables in one index, aliases included.
 */

#include <glib.h>

#include "engine/type.h"

typedef struct Types Types;

/* tables: NULL-terminated, of NULL-terminated tables of node types. */
Types *types_new(const NodeType *const *const *tables);
void types_free(Types *types);

/* NULL: there is none of this name or alias. */
const NodeType *types_find(const Types *types, const char *name);
/* The name that a misspelt one was most likely meant to be, or NULL. */
const char *types_nearest(const Types *types, const char *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Types, types_free)
