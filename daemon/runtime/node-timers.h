/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The timers that the nodes of a run have armed: one a node, and one for the machine itself (NODE_NONE).
 */

#include <stdint.h>

#include "basic/timers.h"
#include "engine/tree.h"

typedef struct NodeTimers NodeTimers;

NodeTimers *node_timers_new(Timers *timers, void (*expired)(NodeId node, void *userdata), void *userdata);
void node_timers_free(NodeTimers *timers);

void node_timers_arm(NodeTimers *timers, NodeId node, uint64_t usec);
/* Forgets it, also when it has expired. */
void node_timers_drop(NodeTimers *timers, NodeId node);

/* For how long it was armed; 0: never. */
uint64_t node_timers_span(const NodeTimers *timers, NodeId node);
/* Microseconds until it expires; UINT64_MAX: it is not armed. */
uint64_t node_timers_left(const NodeTimers *timers, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeTimers, node_timers_free)
