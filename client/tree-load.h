/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loading a tree file without btd: other files are looked for beside it, and then where btd would.
 */

#include "client.h"
#include "definition/definition.h"

/* As definition_load_file(). */
int tree_load(const Client *client, const char *file, Diagnostics *diagnostics, Definition **ret_definition);
