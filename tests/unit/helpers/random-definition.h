/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes random tree files for property tests, with all that a tree file can have: the engine's types with their
 * parameters, guards, hooks, locks, scopes. There are four kinds of leaves, which do nothing by themselves.
 */

#include "definition/definition.h"
#include "dice.h"

/* Ends when told; ends at once; runs its code at once; has a value. */
extern const NodeType slow_type, quick_type, code_type, value_type;

/* The same dice give the same definition. NULL: it cannot be loaded. */
Definition *random_definition_new(Dice *dice, unsigned depth);
/* The tables to load them with. */
extern const NodeType *const *const random_definition_tables[];

/* Of slow_type and value_type. */
typedef struct SlowParams {
        json_object *what;
        int64_t queue;
} SlowParams;

typedef struct CodeParams {
        const Script *code;
} CodeParams;
