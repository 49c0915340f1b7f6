/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The causes that are not a leaf's and do not come from below: what a run and a simulation say of them alike.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "definition/variables.h"

/* What was asked last of a node: a Guard, the test that is its own (Precondition), or whether its value has changed
 * (OnChange). */
#define ASKED_TEST (-1)
#define ASKED_CHANGE (-2)

/* What was asked has decided: with its expression and what that saw. */
Cause *reason_of_answer(const Definition *definition, Variables *variables, NodeId node, int asked);

/* The limit of an inner node has passed, as the parameter says that is a time. */
Cause *reason_of_timer(const Tree *tree, NodeId node, uint64_t limit);

/* The node's limit has passed: how long it was, and which of its parameters, by its field, says so. */
Cause *reason_of_timeout(const Tree *tree, NodeId node, size_t offset, uint64_t limit);
