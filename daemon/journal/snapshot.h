/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All that a run has come to, as a record of its journal: so that what was before need not be kept for ever.
 */

#include "journal/progress.h"

/* While it is not at work, and not over. A new reference. */
json_object *snapshot_of(const Progress *progress);

/* Someone for a leaf that there is then, as from ProgressHost.leaf_start(). NULL: there cannot be such a leaf. */
typedef void *(*SnapshotLeaf)(NodeId node, Status status, Cause *cause, const LeafReport *report, void *userdata);

/* Into a new progress, at that time. False: no run can be like that. */
bool snapshot_restore(Progress *progress, json_object *snapshot, uint64_t now, SnapshotLeaf make_leaf, void *userdata);
