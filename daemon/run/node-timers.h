/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the armed timers of a run: at most one per node, and one for the run itself (NODE_NONE).
 */

#include <stdint.h>

#include "basic/timers.h"
#include "engine/tree.h"

typedef struct NodeTimers NodeTimers;

NodeTimers *node_timers_new(Timers *timers, void (*expired)(NodeId node, void *userdata), void *userdata);
void node_timers_free(NodeTimers *timers);

/* deadline: microseconds of the given clock. */
void node_timers_arm(NodeTimers *timers, NodeId node, TimerClock clock, uint64_t deadline);
void node_timers_drop(NodeTimers *timers, NodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeTimers, node_timers_free)
