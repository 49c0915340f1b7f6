/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The JSON Schema of parameters, from their tables, and the pieces that all schemas are made of.
 */

#include <json-c/json_object.h>
#include <stdbool.h>

#include "engine/type.h"

/* {"type": KIND} */
json_object *schema_of_kind(const char *kind);
/* {"$ref": ...}: what is described under that name. */
json_object *schema_ref(const char *name);
/* Takes both. */
json_object *schema_either(json_object *first, json_object *second);
/* One of the texts, which are NULL-terminated. */
json_object *schema_of_strings(const char *const *names);
/* An object with just these keys. Takes both. */
json_object *schema_of_object(json_object *properties, json_object *required);

/* Adds the parameters to the properties, and to the list of what is required. literal: they take no references, but
 * where one says that it does. */
void schema_add_params(json_object *properties, json_object *required, const Param *params, bool literal);
