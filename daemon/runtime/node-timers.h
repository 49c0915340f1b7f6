/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The timers of a run that are armed: one a node, and one for the run itself (NODE_NONE).
 */

#include <stdint.h>

#include "basic/timers.h"
#include "engine/tree.h"

typedef struct NodeTimers NodeTimers;

NodeTimers *node_timers_new(Timers *timers, void (*expired)(NodeId node, void *userdata), void *userdata);
void node_timers_free(NodeTimers *timers);

/* deadline: in CLOCK_MONOTONIC microseconds. */
void node_timers_arm(NodeTimers *timers, NodeId node, uint64_t deadline);
void node_timers_drop(NodeTimers *timers, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeTimers, node_timers_free)
