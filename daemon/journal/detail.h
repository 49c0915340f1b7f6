/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What there is to say about a node for people, in half a line: what it waits for while it runs, why it failed when
 * it is over.
 */

#include "definition/history.h"

/* timer_left: microseconds until the node's own timer expires, UINT64_MAX when it has none. What a running leaf waits
 * for it has to say itself. To be freed; NULL: nothing to say. */
char *detail_text(const Tree *tree, const History *history, NodeId node, uint64_t timer_left);
