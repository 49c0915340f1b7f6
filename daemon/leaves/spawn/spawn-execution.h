/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns one execution of a program for Spawn or Command: as a transient unit if there is a systemd, else as a child;
 * with its outputs and its result.
 */

#include "leaves/spawn/spawn-process.h"

typedef struct Execution Execution;

/* Called once, from the main loop, when no process of it is running any more: SUCCESS, or FAILURE and the leaf has its
 * cause; after execution_stop() FAILURE without a cause. The output is on the blackboard. The callback may free the
 * execution. */
typedef void (*ExecutionEnded)(Leaf *leaf, Status status);

/* Borrows the leaf and the params. repetition: 0 for the only one of a start of the leaf, else its number, so that it
 * has a name of its own. -EINVAL: it cannot be started, and the leaf has its cause. */
int execution_new(Leaf *leaf, const SpawnParams *params, unsigned repetition, ExecutionEnded ended,
                  Execution **ret_execution);
/* Continues a unit that the previous daemon started, whatever its state is now. */
int execution_recover(Leaf *leaf, const SpawnParams *params, ExecutionEnded ended, Execution **ret_execution);
/* Ends what the previous daemon has started for the leaf, by its memo, whatever its state is now; then ended is called.
 * A negative errno: nothing of it runs any more. */
int execution_end_left(Leaf *leaf, const SpawnParams *params, ExecutionEnded ended, Execution **ret_execution);
/* Ends all its processes within the grace time; if the leaf is abandoned, a unit keeps running. */
void execution_free(Execution *execution);

/* False: the program could not be started, or its result is not known. */
bool execution_has_run(const Execution *execution);

/* Asks it to end, and kills it after its grace time. True: no process was running, and ended is not called. */
bool execution_stop(Execution *execution);
/* Would it return true? */
bool execution_stops_at_once(const Execution *execution);

/* "process 1234 (/usr/bin/foo)" */
void execution_describe(const Execution *execution, GString *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Execution, execution_free)
