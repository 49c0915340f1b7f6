/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All variables of one run of a definition, and what its nodes ask of them. For every host of a machine, so that a
 * run, a simulation and the conformance tests cannot disagree.
 */

#include "basic/cause.h"
#include "definition/definition.h"
#include "script/blackboard.h"

typedef struct Variables Variables;

/* With what the tree file says that they begin with. The definition is borrowed. */
Variables *variables_new(const Definition *definition);
void variables_free(Variables *variables);

/* What they are then, of the tree itself: an object to be freed. */
json_object *variables_initial(const Definition *definition);

/* What the node sees; the same object for the whole run. */
Blackboard *variables_scope(Variables *variables, NodeId node);
/* What can be seen from outside. */
Blackboard *variables_outermost(Variables *variables);

/* Has a variable got another value, that what is running can see, since this was asked last? */
bool variables_have_changed(Variables *variables);
/* Why the last ERROR was one, or what is wrong with the variables of a SubTree or ForEach; borrowed. */
Cause *variables_error(const Variables *variables);

/* What the guard or the test of the node saw when it last decided about it; a new reference. */
json_object *variables_seen(const Variables *variables, NodeId node);

/* All that they are between two inputs, but the error; and the same again, of new ones. False: they cannot be so. */
json_object *variables_image(const Variables *variables);
bool variables_restore(Variables *variables, json_object *json, Cause *error);

/* As the callbacks of a MachineHost. */
Verdict variables_guard(Variables *variables, NodeId node, Guard guard);
Verdict variables_hook(Variables *variables, NodeId node, Hook hook);
Verdict variables_test(Variables *variables, NodeId node, const Script *condition);
uint32_t variables_match(Variables *variables, NodeId node, const char *variable, const Script *of,
                         const char *const *cases);
Verdict variables_has_changed(Variables *variables, NodeId node, const Script *of);
bool variables_next_element(Variables *variables, NodeId node, const char *list, const char *variable, uint32_t index);
uint32_t variables_elements(Variables *variables, NodeId for_each);
void variables_hand_out(Variables *variables, NodeId for_each, NodeId child, uint32_t index);
/* Which element the child was given last, of how many; borrowed. */
json_object *variables_element(const Variables *variables, NodeId for_each, NodeId child, uint32_t *ret_index,
                               uint32_t *ret_n);
bool variables_enter(Variables *variables, NodeId subtree);
bool variables_leave(Variables *variables, NodeId subtree, Status status);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Variables, variables_free)
