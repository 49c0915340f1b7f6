/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the members of Replay. Private to replay*.c: replay.c has its life, replay-inputs.c applies inputs, and
 * replay-host.c answers requests of the run.
 */

#include "run/replay.h"

struct Replay {
        const Journal *journal;
        Progress *progress;
        unsigned begin;    /* index of the first record that was used */
        unsigned position; /* index of the next record */
        GQueue leaves;     /* of ReplayLeaf */
        GArray *locks;     /* of ProgressLock, after the progress was taken */
        char *error;       /* the first mismatch, or NULL */
};

/* NULL: none. */
const Record *replay_next(const Replay *replay);
/* Reports that the last record does not match the run. Only the first mismatch is kept, because it causes the
 * others. */
void replay_mismatch(Replay *replay, const char *format, ...) G_GNUC_PRINTF(2, 3);
const Tree *replay_tree(const Replay *replay);

/* A member of the details of a record; NULL: none. */
json_object *replay_detail(const Record *record, const char *name);
/* The engine that recorded the next record; 0: an old one that is not known. */
uint32_t replay_engine(const Replay *replay);
/* True for records of engine 1. It used the interval when later engines wait for a change or continue at once. Later
 * engines treat such an interval as a tick, and when it was armed does not matter. */
bool replay_is_of_idle_intervals(const Replay *replay);
/* IDLE: none, or not a valid one. */
Status replay_status(const Record *record);
/* A new reference; NULL: none. Causes that are passed on from a child are not recorded, since they are computed
 * again. */
Cause *replay_cause(Replay *replay, const Record *record);
void replay_set_outcome(ReplayLeaf *leaf, const Record *record);
void replay_set_outputs(Replay *replay, NodeId node, json_object *values, uint64_t now);

extern const ProgressHost replay_host;
void replay_leaf_begin_again(ReplayLeaf *leaf, uint64_t now);
/* Checks that the variables have the values in the record of the leaf's start. */
void replay_leaf_check_noted(ReplayLeaf *leaf, const Record *record);
void replay_leaf_remember(ReplayLeaf *leaf, const Record *record);
/* Computes the outcome again, for a leaf that has ended and only uses variables: it is not recorded. */
void replay_leaf_compute(ReplayLeaf *leaf);
void replay_leaf_free(ReplayLeaf *leaf);

/* True if the record has a node, if it needs one, and if the tree has that node. */
bool replay_has_node(const Replay *replay, const Record *record);
/* Begins with the state of the snapshot. */
void replay_restore(Replay *replay, const Record *record, uint64_t now);
/* Applies the record, which was read, to the run. */
void replay_apply(Replay *replay, const Record *record);
