/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes the cause chain of a run or node to a D-Bus message, as aa{sv} from the run down to the origin. The level of
 * a run has "run"; the level of a node has "node", "path", "name", "type" and, if set, "title" and "element". Each has
 * "status", "kind", "text" and, if there are any, "facts" (an object, see variables-bus.h).
 */

#include <systemd/sd-bus.h>

#include "run/run.h"

/* The chain of the run; empty if it has no cause. */
int cause_bus_append_run(sd_bus_message *message, const Run *run);
/* The chain of the node, preceded by the run and the nodes above it. */
int cause_bus_append_node(sd_bus_message *message, const Run *run, NodeId node);

/* The cause of one node, without its chain: "node", "kind", "text", "facts" if there are any, and "because": the node
 * with the next cause of the chain, unless this is the origin. Appends nothing if the node has no cause. Returns the
 * bytes that it takes, about. */
int cause_bus_append_cause(sd_bus_message *message, const Run *run, NodeId node);
