/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What btd tells of a node: its place in the tree, and, in a run, how it fares.
 */

#include <json-c/json_object.h>

#include "client.h"

#define NODE_INFO_ROOT UINT32_MAX

typedef struct NodeInfo {
        uint32_t index;
        uint32_t parent; /* NODE_INFO_ROOT: none */
        char *type;
        char *name;  /* as given by the user, else the type */
        char *title; /* what it is about: a unit, a program; NULL: nothing to say */
        char *status;
        uint64_t since;     /* CLOCK_REALTIME µs; 0: never started */
        uint64_t duration;  /* µs */
        char *detail;       /* what it waits for, or why it failed; may be empty */
        json_object *cause; /* why it is over: see node_info_get_causes(); NULL: nothing to say */
} NodeInfo;

void node_info_free(NodeInfo *node);
GPtrArray *node_info_array_new(void);

/* How it is called: "Camera (StartUnit)", or "StartUnit cam.service" where it has no name of its own. */
void node_info_append_label(const Output *output, GString *line, const char *name, const char *type, const char *title);

/* In depth-first order: all nodes of a run, or of a tree (idle, then), with titles; or those that a signal says have
 * changed. */
int node_info_of_run(Client *client, const char *run_path, GPtrArray **ret_nodes);
int node_info_of_tree(Client *client, const char *tree_path, GPtrArray **ret_nodes);
int node_info_of_signal(sd_bus_message *message, GPtrArray **ret_nodes);

/* For the nodes of a run, each at its index: "kind", "text", "facts", and "because", the index of the node whose cause
 * is the next one on the way down. */
int node_info_get_causes(Client *client, const char *run_path, const GPtrArray *nodes);

/* Moves the nodes to their index among those that are known, where NULL stands for one that is not; the changed are
 * only borrowed from there afterwards. */
void node_info_merge(GPtrArray *known, GPtrArray *changed);

/* "Boot/ParallelLoad/LoadConfig". nodes: those that are known, each at its index; the ancestors have to be there. */
char *node_info_path(const GPtrArray *nodes, uint32_t index);

json_object *node_info_to_json(const NodeInfo *node, const GPtrArray *nodes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeInfo, node_info_free)
