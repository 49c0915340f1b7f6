/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Draws a run from its run record, for btctl replay and graph, and for btctl status if btd does not list
 * the run any more.
 */

#include "client/bus/run-info.h"
#include "client/recording/recording.h"

/* operand: TREE, RUN or FILE. until: microseconds since the start of the run; UINT64_MAX: its end. Returns an exit
 * status. */
int replay_print(Client *client, const char *operand, uint64_t until);

/* The run and its nodes at the end of the recording. Returns an exit status. */
int replay_end(const Recording *recording, RunInfo **ret_run, GPtrArray **ret_nodes);
