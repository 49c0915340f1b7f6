/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What an expression saw, for the cause of what came of it: the expression alone does not tell at night why it was
 * false, its variables do.
 */

#include "script/blackboard.h"

/* An object of what the variables (NULL-terminated) are; those that are not set are null. A new reference. */
json_object *seen_variables(const Blackboard *scope, const char *const *names);

/* "battery is 15, online is not set". To be freed. */
char *seen_describe(json_object *values);
/* "battery > 20 is false (battery is 15)". To be freed. */
char *seen_falsity(const char *expression, json_object *values);
