/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores all variables of one run of a definition, and evaluates the expressions of its nodes. All hosts of a machine
 * use it, so that a run, a simulation and the conformance tests agree.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "run/results.h"
#include "script/blackboard.h"

typedef struct Variables Variables;

/* Sets the initial variables of the tree file. The definition is borrowed. id, tree, instance: of the run, as in
 * RunOrigin. */
Variables *variables_new(const Definition *definition, const char *id, const char *tree, const char *instance);
void variables_free(Variables *variables);

/* The initial variables of the tree itself: an object to be freed. */
json_object *variables_initial(const Definition *definition);

/* The variables of the node's scope; the same object for the whole run. */
Blackboard *variables_scope(Variables *variables, NodeId node);
/* The variables of the outermost scope, which are visible from outside. */
Blackboard *variables_outermost(Variables *variables);

/* The results of the scripts of the run; borrowed. */
Results *variables_results(Variables *variables);
/* See results_take(). */
const char *variables_take_results(Variables *variables, unsigned *ret_n_again);

/* True if a variable that running nodes can read has changed since the last call. */
bool variables_have_changed(Variables *variables);
/* The cause of the last ERROR, or of an error in the variables of a SubTree or ForEach; borrowed. */
Cause *variables_error(const Variables *variables);

/* The values that the guard or the test of the node read when it last decided; a new reference. */
json_object *variables_traced(const Variables *variables, NodeId node);

/* The real values of secret variables, which the state below does not have, as lines "SCOPE NAME VALUE". NULL: they are
 * the same as at the last call. */
GString *variables_take_secrets(Variables *variables);
/* Gives them to a state that was restored, as far as it has these variables. */
void variables_restore_secrets(Variables *variables, const char *lines);

/* Save the state between two inputs, without the error, and restore it into new variables. False: the state is
 * invalid. */
json_object *variables_image(const Variables *variables);
bool variables_restore(Variables *variables, json_object *json, Cause *error);

/* The variables from which the node, which is NODE_LATE, got parameters when it began; NULL: none. Borrowed. */
json_object *variables_filled_in(const Variables *variables, NodeId node);

/* As the callbacks of a MachineHost. */
bool variables_fill_in(Variables *variables, NodeId node);
const void *variables_params(const Variables *variables, NodeId node);
Verdict variables_guard(Variables *variables, NodeId node, Guard guard);
Verdict variables_hook(Variables *variables, NodeId node, Hook hook);
Verdict variables_test(Variables *variables, NodeId node, const Script *condition);
uint32_t variables_match(Variables *variables, NodeId node, const char *variable, const Script *of,
                         const char *const *cases);
Verdict variables_has_changed(Variables *variables, NodeId node, const Script *of);
bool variables_next_element(Variables *variables, NodeId node, const char *list, const char *variable, uint32_t index);
uint32_t variables_elements(Variables *variables, NodeId for_each);
/* Sets a variable of the node to the cause of a child's failure: {"node": "Do/Fetch", "kind": "exit-status", "text":
 * "Fetch: exited with status 1"}. The node and the kind are those of the origin. */
void variables_tell_cause(Variables *variables, NodeId node, const char *variable, const Cause *cause);
void variables_hand_out(Variables *variables, NodeId for_each, NodeId child, uint32_t index);
/* The last element that the child got, its index and the number of elements; borrowed. */
json_object *variables_element(const Variables *variables, NodeId for_each, NodeId child, uint32_t *ret_index,
                               uint32_t *ret_n);
/* The element that this child of a ForEach, or copy of it, got last, as short text; NULL: none, or it is no such child.
 * Borrowed, until the next change. */
const char *variables_element_text(const Variables *variables, NodeId child);
bool variables_enter(Variables *variables, NodeId subtree);
bool variables_leave(Variables *variables, NodeId subtree, Status status);

/* The bytes of all outputs of a run: the history and messages have them. */
#define VARIABLES_OUTPUTS_MAX (UINT64_C(16) << 10)
/* The declared outputs of the outermost tree that are set: a new object; NULL: none. ret_n_more: how many of them are
 * left out, because they have no room. */
json_object *variables_outputs(const Variables *variables, uint32_t *ret_n_more);
/* -EINVAL with an error message: one of them does not have its type. */
int variables_check_outputs(const Variables *variables, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Variables, variables_free)
