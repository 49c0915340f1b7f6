/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the objects /org/btd1/run/ID with the interface org.btd1.Run to sd-bus. The userdata is a Published; the
 * run is found by the path.
 */

#include "service/property.h"
#include "service/published.h"

extern const ObjectKind run_kind;

int run_bus_find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                 sd_bus_error *ret_error);
/* For each method call, before sd-bus has it. 1: the object is a run that only the history has; it replies that. */
int run_bus_refuse_past(const Published *published, sd_bus_message *message);
int run_bus_enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_paths, sd_bus_error *ret_error);

/* Makes a request for published_authorize(), for the run with this id. */
Request run_bus_request(const Published *published, Permission permission, const char *id);

/* A node of a run: index, parent, type, name, status, since, duration, details. Only what few nodes have is in the
 * dictionary: with all of it there, 100,000 nodes would be 20 MB instead of 8, and take four times as long. */
#define RUN_NODE_SIGNATURE "(uussstta{sv})"

/* The least that a node takes in a message. */
#define NODE_SIZE_MIN 80u

/* Appends this state of a node. title: NULL: none. Returns the bytes that it takes, about. */
int run_bus_append_node(sd_bus_message *message, const Tree *tree, NodeId node, const NodeReport *report,
                        const char *title);

/* Sends the state of these nodes to one subscriber. */
void run_bus_tell_nodes(sd_bus *bus, const char *destination, const Run *run, const GArray *nodes);
void run_bus_emit_finished(sd_bus *bus, const Run *run);
