/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Recovers a run that the previous btd left, in three steps. Each step is done for all runs before the next step,
 * because runs share locks.
 */

#include "run/replay.h"

/* Step 1: takes the run out of the replay and makes it live. Takes the writer, to which the run appends; NULL: no run
 * record. */
Run *run_recover(const RecordHeader *header, Replay *replay, RecordWriter *writer, const RunServices *services,
                 const RunCallbacks *callbacks, void *userdata);

/* Instead of these steps, for a run of which nothing is left but its record: ends it as UNFINISHED, at the time of its
 * last entry. The caller frees the run, which can only be read. Takes the writer. */
Run *run_end_lost(const RecordHeader *header, Replay *replay, RecordWriter *writer);

/* Step 2: requests a lock again. Request all held locks before all waiting ones, each group sorted by time. */
void run_recover_lock(Run *run, const RunLock *lock);

/* Step 3: continues the leaves. If the run had finished, its end is processed; if it had not started, it is started. */
void run_recover_leaves(Run *run);
