/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a leaf makes of the variables alone, and so makes of them in a simulation, too: the expression that a condition
 * holds by, the code of an action. Which it is says the table of its type.
 */

#include "basic/cause.h"
#include "engine/type.h"
#include "script/blackboard.h"

typedef struct Computation Computation;

/* NULL: the type does anything else. changed: a variable that the expression reads has another value. */
Computation *computation_new(const NodeType *type, const void *params, Blackboard *scope,
                             void (*changed)(void *userdata), void *userdata);
void computation_free(Computation *computation);

/* SUCCESS, FAILURE or ERROR. An expression is evaluated when something has changed, code is run once. */
Status computation_result(Computation *computation);
/* Why it is no success; NULL for one. A new reference. */
Cause *computation_cause(const Computation *computation);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Computation, computation_free)
