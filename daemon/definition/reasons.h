/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The causes that are not a leaf's and do not come from below: what a progress and its leaves say of them alike.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "definition/variables.h"

/* For reason_is_answer(): with the expression that has decided, and what that saw. */
Cause *reason_of_answer(const Definition *definition, const Variables *variables, NodeId node, Reason reason);

/* The limit of an inner node has passed, as the parameter says that is a time. */
Cause *reason_of_timer(const Tree *tree, NodeId node, uint64_t limit);

/* A ForEach has failed, and its child last. */
Cause *reason_of_element(const Definition *definition, const Variables *variables, NodeId for_each, NodeId child);

/* The node's limit has passed: how long it was, and which of its parameters, by its field, says so. */
Cause *reason_of_timeout(const Tree *tree, NodeId node, size_t offset, uint64_t limit);
