/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Ticking and halting leaves: when an action may start, and how long a condition's value is kept.
 */

#include "engine/node.h"

/* Settles the node, too. */
Status condition_tick(Machine *machine, NodeId node);

Status leaf_tick(Machine *machine, NodeId node);
/* Of a running one, conditions included. */
void leaf_halt(Machine *machine, NodeId node);
