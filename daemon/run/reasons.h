/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the causes that are neither a leaf's own nor passed on from a child. The execution of a run and the code that
 * runs leaves use it, so that both give the same causes.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "run/variables.h"

/* For reason_is_answer(): a cause with the expression that decided, and the values that it read. */
Cause *reason_of_answer(const Definition *definition, const Variables *variables, NodeId node, Reason reason);

/* The time limit of an inner node has passed; the limit is the parameter of the type that is a time span. */
Cause *reason_of_timer(const Tree *tree, NodeId node, uint64_t limit);

/* A ForEach has failed, because of this child. */
Cause *reason_of_element(const Definition *definition, const Variables *variables, NodeId for_each, NodeId child);

/* The time limit of the node has passed. limit: in microseconds; offset: of the parameter's field. */
Cause *reason_of_timeout(const Tree *tree, NodeId node, size_t offset, uint64_t limit);
/* An action was halted, and given up after its halt_timeout. before: the reason of the halt, or NULL. */
Cause *reason_of_halt_timeout(const Definition *definition, NodeId node, const Cause *before);
