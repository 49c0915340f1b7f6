/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes random trees. Each of them finishes in time, whatever happens. The simulated world knows a leaf by the number
 * of its tree and the engine's number of the node.
 */

#include <stdbool.h>

#include "dice.h"

/* Selects the leaves of a tree. */
typedef enum ForestKind {
        FOREST_ANY,
        FOREST_RECOVERABLE, /* leaves that continue unchanged when the daemon was killed */
} ForestKind;

/* The text of a tree file; tells the ledger the promises of its leaves. To be freed. */
char *forest_tree(Dice *dice, unsigned tree, ForestKind kind);
/* The files that trees include, two of them with one name. Each edition has other text, and after the first edition, a
 * new file comes earlier in the search path. */
void forest_parts(unsigned edition, void (*put)(const char *file, const char *text, void *userdata), void *userdata);
