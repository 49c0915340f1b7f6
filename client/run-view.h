/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run as 'status' and 'replay' show it.
 */

#include "node-info.h"
#include "run-info.h"

/* chain: as cause_chain_get() gives it. nodes: all of the tree, each at its index. */
void run_view_append(const Client *client, GString *text, const RunInfo *run, json_object *chain,
                     const GPtrArray *nodes);
json_object *run_view_to_json(const Client *client, const RunInfo *run, json_object *chain, const GPtrArray *nodes);

/* The same for what else is shown with them: "  Started: ..." */
void run_view_append_field(const Output *output, GString *text, const char *label, const char *value);
json_object *run_view_nodes_to_json(const GPtrArray *nodes);
