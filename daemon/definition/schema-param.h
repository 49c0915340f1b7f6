/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Makes the JSON Schema of parameters from their tables, and provides the parts of all schemas. schema.c uses it. */

#include <json-c/json_object.h>
#include <stdbool.h>

#include "engine/type.h"

/* {"type": KIND} */
json_object *schema_of_kind(const char *kind);
/* {"$ref": ...}: the definition with that name. */
json_object *schema_ref(const char *name);
/* Takes both. */
json_object *schema_either(json_object *first, json_object *second);
/* One of the texts, which are NULL-terminated. */
json_object *schema_of_strings(const char *const *names);
/* An object that has only these keys. Takes both. */
json_object *schema_of_object(json_object *properties, json_object *required);

/* Adds the pattern of a text, and its description for messages ("an object path"), which some editors show. */
void schema_add_pattern(json_object *schema, const char *pattern, const char *what);

/* Adds the parameters to the properties, and the required ones to the list. literal: they take no references, unless a
 * parameter allows them. */
void schema_add_params(json_object *properties, json_object *required, const Param *params, bool literal);
