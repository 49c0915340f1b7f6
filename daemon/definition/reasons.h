/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The causes that are not a leaf's and do not come from below: what a run and a simulation say of them alike.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "definition/variables.h"

/* The guard has decided, for the outcome that its kind is for; GUARD_WHILE: it does not hold. With its expression
 * and what that saw. */
Cause *reason_of_guard(const Definition *definition, Variables *variables, NodeId node, Guard guard);

/* The node's limit has passed: how long it was, and the parameter that says so. */
Cause *reason_of_timeout(const Tree *tree, NodeId node, const char *parameter, uint64_t limit);
