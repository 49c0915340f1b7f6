/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run by hand: to hold it, look where it stands, help it on. Of a run that has finished or is being halted, none of
 * these does anything.
 */

#include "runtime/run.h"

/* Nothing new is started, what runs goes on, and what happens is kept for when it is resumed. */
void run_pause(Run *run);
void run_resume(Run *run);
bool run_paused(const Run *run);
/* One tick of a paused run. False: nothing has happened that it would look at. */
bool run_step(Run *run);

/* Before the node starts, the run is paused; it is started when the run is resumed or makes a step. */
void run_set_breakpoint(Run *run, NodeId node, bool set);
/* Those that are set, and those that it stands at: of NodeId, in order; NULL: none. */
const GArray *run_breakpoints(const Run *run);
const GArray *run_stops(const Run *run);

/* Gives the node this outcome: SUCCESS, FAILURE or SKIPPED. True: it runs, and has it when it has been halted. False:
 * it has it, once, when it would next start. why: its cause (taken). */
bool run_force(Run *run, NodeId node, Status status, Cause *why);

/* Sets variables from outside, all or none: an object. -EINVAL with a text for people. */
int run_set_values(Run *run, json_object *values, char **ret_error);
