/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How the bus sees why a run, or a node of it, is over: an aa{sv} from the run down to where it began. The run has
 * "run", a node "node", "path", "name", "type" and, where it has one, "title"; each "status", "kind", "text" and, where
 * there are some, "facts" (an object, as JSON text).
 */

#include <systemd/sd-bus.h>

#include "runtime/run.h"

/* Of the run; empty while there is nothing to say. */
int cause_bus_append_run(sd_bus_message *message, const Run *run);
/* Of the node, with the run and the nodes above it. */
int cause_bus_append_node(sd_bus_message *message, const Run *run, NodeId node);

/* One level each of all nodes that have a cause: the node, "kind", "text", "facts" or "", and the node whose cause is
 * the next one on the way down, UINT32_MAX: it begins here. */
#define CAUSE_SIGNATURE "(usssu)"
int cause_bus_append_all(sd_bus_message *message, const Run *run);
