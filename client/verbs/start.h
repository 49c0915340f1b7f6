/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Starts a tree as the options say, for start and restart.
 */

#include "client/verbs/wait.h"
#include "run/run.h"

/* Checks the options and prints what is wrong; returns an exit status. */
int start_check_options(const Client *client);

/* taken: what the run takes over from another one; NULL: nothing. Starts the tree and prints the name of the run or,
 * with --wait and --follow, its result. sets: variables as KEY=JSON; valid. waiting: add the run to it instead of
 * printing; NULL: none. ret_started: there is a run, whatever became of it later. Returns an exit status. */
int start_tree(Client *client, const char *tree, const char *instance, const GPtrArray *sets, const RunTaken *taken,
               Waiting *waiting, bool *ret_started);
