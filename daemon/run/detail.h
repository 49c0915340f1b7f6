/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes the state of a node in half a line: why it waits while it is running, or why it failed after it has ended.
 * btctl and the bus show it.
 */

#include "run/history.h"

/* timer_left: microseconds until the node's own timer expires; UINT64_MAX: it has none. For a running leaf there is no
 * text, because the leaf must describe itself. To be freed; NULL: nothing to show. */
char *detail_text(const Tree *tree, const History *history, NodeId node, uint64_t timer_left);
