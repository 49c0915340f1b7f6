/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Defines the valid names of trees, and the suffix of their files. The loader, run records, the runtime and btctl use
 * it. */

#include <stdbool.h>

#define TREE_NAME_MAX 100u
#define TREE_SUFFIX ".json"

/* Letters, digits, '_' and '-'; at most TREE_NAME_MAX. */
bool tree_name_valid(const char *name);
