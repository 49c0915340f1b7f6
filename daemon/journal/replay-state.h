/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a replay is made of. For its own files only: its life is in replay.c, what the records do to the run in
 * replay-inputs.c, and what they answer it in replay-host.c.
 */

#include "journal/replay.h"

struct Replay {
        const Journal *journal;
        Progress *progress;
        unsigned begin;    /* the record that it began with */
        unsigned position; /* of the next record */
        GQueue leaves;     /* of ReplayLeaf */
        GArray *locks;     /* of ProgressLock, once the progress was taken */
        char *error;       /* what does not fit, or NULL */
};

/* NULL: there is none. */
const Record *replay_next(const Replay *replay);
/* What was read last does not fit. The first such thing is the reason for all others. */
void replay_misfit(Replay *replay, const char *format, ...) G_GNUC_PRINTF(2, 3);
const Tree *replay_tree(const Replay *replay);

/* Of the details of a record; NULL: there is no such member. */
json_object *replay_detail(const Record *record, const char *name);
/* IDLE: it has none that it may have. */
Status replay_status(const Record *record);
/* New; NULL: it has none. Causes that are handed on are not recorded, but come up again. */
Cause *replay_cause(Replay *replay, const Record *record);
void replay_set_outcome(ReplayLeaf *leaf, const Record *record);
void replay_set_outputs(Replay *replay, NodeId node, json_object *values, uint64_t now);

extern const ProgressHost replay_host;
void replay_leaf_begin_again(ReplayLeaf *leaf, uint64_t now);
void replay_leaf_remember(ReplayLeaf *leaf, const Record *record);
/* It has ended: what it makes of variables alone is not recorded, but done again. */
void replay_leaf_compute(ReplayLeaf *leaf);
void replay_leaf_free(ReplayLeaf *leaf);

/* Is it of a node, if it has to be, and is there such a node? */
bool replay_has_node(const Replay *replay, const Record *record);
/* It begins as the snapshot says. */
void replay_restore(Replay *replay, const Record *record, uint64_t now);
/* The record, which was read, happens to the run. */
void replay_apply(Replay *replay, const Record *record);
