/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Draws a tree as text: one line a node, with branches, symbol, name, type, time, and what it waits for or why it
 * failed.
 */

#include "node-info.h"

/* nodes: all of the tree, each at its index. */
void tree_view_append(const Output *output, GString *text, const GPtrArray *nodes);
