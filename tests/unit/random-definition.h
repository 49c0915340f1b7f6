/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Random tree files for property tests, of all that a tree file can have: the engine's types with their parameters,
 * guards, hooks, locks, scopes. The leaves are of four kinds, which do nothing by themselves.
 */

#include "definition/definition.h"
#include "dice.h"

/* Ends when told; is over at once; runs its code at once; has a value. */
extern const NodeType slow_type, quick_type, code_type, value_type;

/* The same dice give the same. NULL: what came out cannot be loaded. */
Definition *random_definition_new(Dice *dice, unsigned depth);
/* The tables that they are loaded with. */
extern const NodeType *const *const random_definition_tables[];

/* Of the first and the last. */
typedef struct SlowParams {
        json_object *what;
} SlowParams;

typedef struct CodeParams {
        const Script *code;
} CodeParams;
