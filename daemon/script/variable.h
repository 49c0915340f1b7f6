/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What nodes make of the value of a variable: a truth, or one of several cases.
 */

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>

#include "script/blackboard.h"

/* Everything but null, false and a variable that is not set, as in Lua. */
bool variable_is_true(const Blackboard *blackboard, const char *key);

/* The first of the cases (NULL-terminated) that the value equals: as text, as integers ("01" and 1), or as numbers
 * that differ by no more than a single-precision rounding ("2.50" and 2.5). Their number when there is none. */
uint32_t value_match(json_object *value, const char *const *cases);
/* The same of a variable. */
uint32_t variable_match(const Blackboard *blackboard, const char *key, const char *const *cases);
