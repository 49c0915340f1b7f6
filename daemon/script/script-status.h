/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Evaluates the expression or code of a leaf: its status, and the cause if that is not SUCCESS. Runs and simulations
 * use it. Also describes the variables that an expression read ("traced inputs"), because they show why it was false.
 */

#include "basic/cause.h"
#include "engine/type.h"
#include "script/scripts.h"

/* An object with the values of the variables (NULL-terminated); variables that are not set are null. A new reference.
 */
json_object *traced_inputs(const Blackboard *scope, const char *const *names);
/* " (battery is 15, online is not set)"; "" if it would repeat the expression and its verdict: "go" "is false". To be
 * freed. */
char *traced_inputs_explain(const char *expression, const char *verdict, json_object *values);

/* SUCCESS, FAILURE or ERROR. names, values: inputs of the expression besides variables, NULL-terminated, or NULL. */
Status script_status_of_test(const Script *script, const Blackboard *scope, const char *const *names,
                             json_object *const *values, json_object *const *shown, Cause **ret_cause);
/* SUCCESS or ERROR. */
Status script_status_of_code(const Script *script, Blackboard *scope, Cause **ret_cause);
