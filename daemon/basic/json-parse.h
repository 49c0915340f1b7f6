/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Reads JSON text that others have sent. */

#include <glib.h>
#include <json-c/json.h>
#include <stddef.h>

/* How many arrays and objects of a variable can be inside each other. The same wherever values come from. */
#define JSON_NESTING_MAX 100
#define JSON_TOO_DEEP "nested more than " G_STRINGIFY(JSON_NESTING_MAX) " levels deep"

/* text ends with a NUL, which length does not count. -EINVAL: it is not JSON. -E2BIG: it is nested more than depth
 * levels deep. -ERANGE: it has a number that a 64-bit integer or a double cannot hold, which json-c would replace by
 * another one; ret_number is an excerpt of it, which the caller frees. */
int json_parse(const char *text, size_t length, int depth, json_object **ret_value, char **ret_number);

/* The member if it has this type; or NULL. Borrowed. */
json_object *json_member(json_object *json, const char *name, json_type type);
/* The text of the member if it is a string; or NULL. Borrowed. */
const char *json_member_text(json_object *json, const char *name);
