/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Trees that change together: those that use a file which has changed get all of it or, when one of them does not load
 * any more, none.
 */

#include "definition/definition.h"
#include "runtime/snapshot.h"

/* What a look at the search path means for a tree. */
typedef struct Change {
        const char *name;
        const Definition *before, *after; /* NULL: there is none; after: it does not load */
        const char *held_by;              /* the tree because of which it stays as it was; or NULL */
} Change;

/* Says of each what holds it, if anything does. changes: of Change. */
void changes_settle(GArray *changes, const Snapshot *snapshot);
