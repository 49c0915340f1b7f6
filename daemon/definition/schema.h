/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the JSON Schema (draft 2020-12) of tree files and their drop-ins, for editors. It is made from the tables of
 * the node types, so that it agrees with the loader. btctl prints it.
 */

#include <json-c/json_object.h>

#include "engine/type.h"

/* tables: a NULL-terminated list of NULL-terminated tables of node types. */
json_object *schema_new(const NodeType *const *const *tables);
/* The same of drop-ins, in which each member is optional and can be removed with null. */
json_object *schema_new_of_dropin(const NodeType *const *const *tables);
