/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Controls a run by hand: pause, step, breakpoints, forced outcomes, variables. These functions do nothing for a run
 * that has finished or is halting.
 */

#include "run/run.h"

/* Pauses the run: starts nothing new. What already runs continues, and inputs are kept until the run is resumed. */
void run_pause(Run *run);
void run_resume(Run *run);
bool run_paused(const Run *run);
/* Does one tick of a paused run. False: there are no inputs to process. */
bool run_step(Run *run);

/* Pauses the run before the node starts. The node starts when the run is resumed or stepped. */
void run_set_breakpoint(Run *run, NodeId node, bool set);
/* The breakpoints that are set, and those at which the run is paused: NodeIds, in order; NULL: none. */
const GArray *run_breakpoints(const Run *run);
const GArray *run_stops(const Run *run);

/* Forces this outcome of the node: SUCCESS, FAILURE or SKIPPED. True: the node is running; it is halted, and then has
 * the outcome. False: the node has the outcome, once, when it would start next. why: its cause (taken). */
bool run_force(Run *run, NodeId node, Status status, Cause *why);

/* Sets all variables of the object, or none. -EINVAL with an error message. */
int run_set_values(Run *run, json_object *values, char **ret_error);
