/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a leaf comes to by an expression or by code: its status, and the cause of one that is no success. In a run and
 * in a simulation alike.
 */

#include "basic/cause.h"
#include "engine/status.h"
#include "script/scripts.h"

/* SUCCESS, FAILURE or ERROR. names, values: what the expression takes besides variables, NULL-terminated, or NULL. */
Status script_status_of_test(const Script *script, const Blackboard *scope, const char *const *names,
                             json_object *const *values, Cause **ret_cause);
/* SUCCESS or ERROR. */
Status script_status_of_code(const Script *script, Blackboard *scope, Cause **ret_cause);
