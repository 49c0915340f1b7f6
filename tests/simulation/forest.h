/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Random trees, of which each comes to an end in time whatever happens, and whose leaves the world knows by the number
 * of their tree and their own, which is that of the engine.
 */

#include <stdbool.h>

#include "dice.h"

/* Which leaves there may be. */
typedef enum ForestKind {
        FOREST_ANY,
        FOREST_RECOVERABLE, /* those that go on as if nothing had happened when the daemon was killed */
} ForestKind;

/* The text of a file; tells the ledger what its leaves promise. To be freed. */
char *forest_tree(Dice *dice, unsigned tree, ForestKind kind);
/* The files that trees use, two of them with one name. Each edition is another text, and after the first one there is
 * another file that would be found before. */
void forest_parts(unsigned edition, void (*put)(const char *file, const char *text, void *userdata), void *userdata);
