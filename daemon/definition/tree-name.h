/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The names of trees, and the files of the search path that they are in.
 */

#include <stdbool.h>

#define TREE_NAME_MAX 100u
#define TREE_SUFFIX ".json"

/* Letters, digits, '_' and '-'; TREE_NAME_MAX at most. */
bool tree_name_valid(const char *name);
