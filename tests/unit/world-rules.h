/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What must hold in any world, whatever the tree and whatever happens. */

#include "world.h"

/* An action starts: nothing that it comes after is still ending. */
void rules_check_start(World *world, NodeId leaf);
/* Code is run: once for each outcome and each halt of what has begun. */
void rules_check_hook(World *world, NodeId node, Hook hook);
/* The machine tells of a change: every body that has begun is followed by its clean-up, once. */
void rules_check_change(World *world, NodeId node, Status status);
/* Between two ticks: who is RUNNING waits for something; when it is over, nothing is left behind. */
void rules_check(World *world);
