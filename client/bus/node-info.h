/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes a node as btd reports it: its place in the tree and, in a run, its status.
 */

#include <json-c/json_object.h>

#include "client/bus/client.h"

#define NODE_INFO_ROOT UINT32_MAX

typedef struct NodeInfo {
        uint32_t index;
        uint32_t parent; /* NODE_INFO_ROOT: none */
        char *type;
        char *name;    /* given by the user, else the type */
        char *title;   /* its unit or program, for example; NULL: none */
        char *element; /* of the child of a ForEach: what it got last; NULL: none */
        char *status;
        uint64_t since;     /* CLOCK_REALTIME µs; 0: never started; of one that is waiting or halting, since then */
        uint64_t duration;  /* µs, since then or of the whole execution */
        char *detail;       /* what it waits for, or why it failed; may be empty */
        json_object *cause; /* see node_info_get_causes(); NULL: none */
} NodeInfo;

void node_info_free(NodeInfo *node);
GPtrArray *node_info_array_new(void);

/* The label of a node: "Camera (StartUnit)", or "StartUnit cam.service" if it has no name of its own. With its element,
 * the child of a ForEach is called "Camera[s3]", and a copy of it "Camera[2: s3]". title, element: may be NULL. */
void node_info_append_label(const Output *output, GString *line, const char *name, const char *type, const char *title,
                            const char *element);

/* In depth-first order: all nodes of a run or of a tree (with status idle), with titles; or those in a signal or an
 * answer. */
int node_info_of_run(Client *client, const char *run_path, GPtrArray **ret_nodes);
/* Only the nodes with these indices. */
int node_info_of_some(Client *client, const char *run_path, const GArray *indices, GPtrArray **ret_nodes);
int node_info_of_tree(Client *client, const char *tree_path, GPtrArray **ret_nodes);
int node_info_of_message(sd_bus_message *message, GPtrArray **ret_nodes);

/* Sets the causes of the nodes of a run, each at its index: "kind", "text", "facts", and "because", the index of the
 * node with the next cause of the chain. */
int node_info_get_causes(Client *client, const char *run_path, const GPtrArray *nodes);

/* "Boot/ParallelLoad/LoadConfig". nodes: the known ones, each at its index, with all ancestors of this one. */
char *node_info_path(const GPtrArray *nodes, uint32_t index);
/* As events show it: "All/One[2: s3]/Load". */
char *node_info_path_with_elements(const GPtrArray *nodes, uint32_t index);

json_object *node_info_to_json(const NodeInfo *node, const GPtrArray *nodes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeInfo, node_info_free)
