/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Saves and restores the whole state of a run as an entry of its run record, so that earlier entries can be removed.
 * The execution and the replay of a run use it.
 */

#include "run/run-inputs.h"

/* Returns a new reference. Must not be called while the run processes an input, or after it has finished. */
json_object *snapshot_of(const Run *run);

/* Restores into a new run, at that time. False: the snapshot is invalid. */
bool snapshot_restore(Run *run, json_object *snapshot, uint64_t now);
