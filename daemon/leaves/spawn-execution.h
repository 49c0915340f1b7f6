/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One execution of a program for a leaf: as a transient unit where there is a systemd and else as a child, with its
 * outputs, and what its end means.
 */

#include "leaves/spawn.h"

typedef struct Execution Execution;

/* Called once, from the main loop, when nothing of it is running any more: SUCCESS, or FAILURE and the leaf has its
 * cause; after execution_stop() FAILURE without one. What it has written is on the blackboard. It may free the
 * execution. */
typedef void (*ExecutionEnded)(Status status, Leaf *leaf);

/* repetition: 0 for the only one of a start of the leaf, else its number, so that it has a name of its own. -EINVAL:
 * it cannot be started, and the leaf has its cause. */
int execution_new(Leaf *leaf, const SpawnParams *params, unsigned repetition, ExecutionEnded ended,
                  Execution **ret_execution);
/* One that a daemon before this one has run as a unit, whatever has become of that since. */
int execution_recover(Leaf *leaf, const SpawnParams *params, ExecutionEnded ended, Execution **ret_execution);
/* Nothing of it is left, in time; unless the leaf is abandoned, then a unit goes on. */
void execution_free(Execution *execution);

/* False: the program could not be started, or nobody knows what came of it. */
bool execution_has_run(const Execution *execution);

/* Asks it to end, and makes it when it has had its time. True: nothing of it was running, and ended is not called. */
bool execution_stop(Execution *execution);

/* "process 1234 (/usr/bin/foo)" */
void execution_describe(const Execution *execution, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Execution, execution_free)
