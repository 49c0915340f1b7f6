/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a NODE operand means in a run: "#12" is the node of that index, "Boot/LoadConfig" the node at the end of a path,
 * from the root or from anywhere below it, "LoadConfig" the only node of that name.
 */

#include "node-info.h"
#include "run-info.h"

/* Returns an exit status; says what else there is when the operand means none, or several. */
int node_target_find(Client *client, const RunInfo *run, const char *operand, uint32_t *ret_index);

/* The same among nodes that are known, each at its index. The text says what is wrong, and is to be freed. */
bool node_target_choose(const GPtrArray *nodes, const char *operand, uint32_t *ret_index, char **ret_error);
