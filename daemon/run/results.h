/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Evaluates the scripts of a run: conditions of nodes, hooks and the code of Script. What they give is kept for the run
 * record. A replay takes it from there and does not run Lua again, so that another version of Lua, or another limit of
 * its steps, cannot change what has happened. Only results that are very long are computed again.
 */

#include <glib.h>
#include <json-c/json_object.h>

#include "script/scripts.h"

typedef struct Results Results;

Results *results_new(void);
void results_free(Results *results);

/* The text of those that came since the last call: a JSON array; NULL: there are none. Borrowed, until the next result.
 * ret_n_again: how many of them a replay has to compute again. */
const char *results_take(Results *results, unsigned *ret_n_again);

/* From now on, results are these: an array (borrowed), or NULL for none. */
void results_replay(Results *results, json_object *array);
void results_end_replay(Results *results);
/* Why they are not those of this run; NULL: they may be. */
const char *results_problem(const Results *results);
/* Has the run asked for fewer? */
bool results_are_left(const Results *results);

/* As script_test(). */
int results_test(Results *results, const Script *script, const Blackboard *scope, bool *ret_truth, char **ret_error);
/* The same, if the truth is known already: the host keeps it while no variable changes. */
void results_test_known(Results *results, bool truth);
/* The index of the first case that the value of the expression equals, see blackboard_match_value(). */
int results_match(Results *results, const Script *script, const Blackboard *scope, const char *const *cases,
                  uint32_t *ret_case, char **ret_error);
/* Has the value another value than before (known false: there is none)? Only then ret_value is set: a new reference. */
int results_change(Results *results, const Script *script, const Blackboard *scope, bool known, json_object *before,
                   bool *ret_changed, json_object **ret_value, char **ret_error);
/* As script_run(). */
int results_run(Results *results, const Script *script, Blackboard *scope, char **ret_error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Results, results_free)
