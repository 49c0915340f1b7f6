/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Checks the rules that hold in any world, for any tree and any input. */

#include "world.h"

/* An action starts: all nodes that it waits for have ended. */
void rules_check_start(World *world, NodeId leaf);
/* A hook runs: once for each outcome and each halt of a node that has begun. */
void rules_check_hook(World *world, NodeId node, Hook hook);
/* The machine reports a change: the clean-up follows each body that has begun, once. */
void rules_check_change(World *world, NodeId node, Status status);
/* Between two ticks: a RUNNING node waits for something; a tree that has ended has released everything. */
void rules_check(World *world);
