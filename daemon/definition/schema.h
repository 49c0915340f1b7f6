/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The JSON Schema (draft 2020-12) of tree files, for editors: made from the tables of the node types, so that it says
 * what the loader says.
 */

#include <json-c/json_object.h>

#include "engine/type.h"

/* tables: NULL-terminated, of NULL-terminated tables of node types. */
json_object *schema_new(const NodeType *const *const *tables);
