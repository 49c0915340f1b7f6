/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run that a daemon before this one has left, as a run of this one: in three steps, each for all runs before the
 * next, since runs have locks in common.
 */

#include "journal/replay.h"
#include "runtime/run.h"

/* It is where the replay has come to, which is good for the other steps only then; and writes on its journal, which it
 * takes; NULL: it has none. */
Run *run_recover(const JournalHeader *header, Replay *replay, JournalWriter *writer, const RunServices *services,
                 const RunCallbacks *callbacks, void *userdata);

/* Claims the lock again: those that were held before all that were waited for, each in the order of time. */
void run_recover_lock(Run *run, const ProgressLock *lock);

/* Its leaves go on. A run that is over, or had not begun, is told of its end, or begins. */
void run_recover_leaves(Run *run, const Replay *replay);
