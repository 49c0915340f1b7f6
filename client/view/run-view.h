/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Shows a run or a tree, for btctl status and replay: its header, the causes of its end, and its nodes.
 */

#include "client/bus/node-info.h"
#include "client/bus/run-info.h"
#include "client/bus/tree-info.h"

/* Gets the causes of a run's end, from the run to the node where it began: an array of objects with "run" or "node",
 * "path", "name" and "type"; "status", "kind", "text" and "facts". Empty if nothing has failed. */
int cause_chain_get(Client *client, const char *run_path, json_object **ret_chain);

/* chain: as cause_chain_get() gives it. nodes: all of the tree, each at its index. */
void run_view_append(const Client *client, GString *text, const RunInfo *run, json_object *chain,
                     const GPtrArray *nodes);
json_object *run_view_to_json(const Client *client, const RunInfo *run, json_object *chain, const GPtrArray *nodes);

/* A field of a header: "  Started: ...". label: empty: another line of the field above it. */
void run_view_append_field(const Output *output, GString *text, const char *label, const char *value);

/* "boot: autostart waits: ...". Nothing if wait is empty. */
void run_view_append_wait(const Output *output, GString *text, const char *title, const char *wait);
/* Such a line for each tree that waits to be started, and for each restart. */
void run_view_append_waits(const Output *output, GString *text, const GPtrArray *trees, const GPtrArray *runs);

/* Writes a chain of causes, a line for each level, and the facts of the last one. */
void cause_chain_append(const Output *output, GString *text, json_object *chain);

/* Appends the branches before a node, and the node, as tree_view_append() does. last_children: the last child of each
 * node that is drawn. */
void tree_view_append_node(const Output *output, GString *line, const GPtrArray *nodes, const uint32_t *last_children,
                           uint32_t index);

/* Draws a tree, one line for each node: branches, symbol, name, type, time, and what it waits for or why it failed. */
void tree_view_append(const Output *output, GString *text, const GPtrArray *nodes);
json_object *run_view_nodes_to_json(const GPtrArray *nodes);
