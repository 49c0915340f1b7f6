/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * From the tree of a vector to a tree file. Vectors have spellings of their own: decorators with "children",
 * "failure_if", the queue of a Loop as a list, and scripted leaves.
 */

#include <json-c/json_object.h>

/* A new reference to the whole file. */
json_object *translate_tree(json_object *tree);
