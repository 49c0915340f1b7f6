/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loads trees that are text in C, with the types that btd has: single quotes stand for the double ones of JSON.
 */

#include "definition/definition.h"

#define SPAWN(name) "{'type': 'Spawn', 'name': '" name "', 'argv': ['x']}"
#define UNIT(name) "{'type': 'UnitState', 'name': '" name "', 'unit': 'x.service', 'state': 'active'}"
#define NODE(type, name, keys, ...) "{'type': '" type "', 'name': '" name "', " keys "'children': [" __VA_ARGS__ "]}"
#define AROUND(type, name, keys, child) "{'type': '" type "', 'name': '" name "', " keys "'child': " child "}"

/* To be freed. */
char *tree_text_to_json(const char *text);
/* The tree whose root that is; there must be nothing wrong with it. */
Definition *tree_text_load(const char *root);
/* The same from a whole file. */
Definition *tree_text_load_file(const char *file);
