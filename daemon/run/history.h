/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Stores the last state of each node of a run: its status, since when and for how long, how often it was started, and,
 * if it did not succeed, its cause with the chain down to the origin. The execution of a run records it; btctl and the
 * bus show it.
 *
 * A block of nodes of which one has run takes ten bytes per node, and two more if one is started again. Only nodes that
 * have a cause store one.
 */

#include "engine/machine.h"
#include "run/causes.h"

typedef struct History History;

/* The tree is borrowed. Times are CLOCK_MONOTONIC microseconds; start is the start of the run. */
History *history_new(const Tree *tree, uint64_t start);
void history_free(History *history);

/* Records a change that the machine reported. cause: the node's own cause (taken); NULL: it follows from the
 * children. */
void history_record(History *history, NodeId node, Status status, Reason reason, Cause *cause, uint64_t now);

/* Records that a condition was evaluated again with the same status. cause: its cause now, or NULL. */
void history_repeat(History *history, NodeId node, const Cause *cause);

/* Sets the node and those above it to ERROR; later reports do not change that. Takes the cause. */
void history_fail(History *history, NodeId node, Cause *cause, uint64_t now);

/* Counts one more start of a leaf, from 1; after 65535 it is 1 again. */
uint32_t history_count_start(History *history, NodeId leaf);
/* How often a decorator's child has completed since the decorator was started; at most 65535. */
uint32_t history_rounds(const History *history, NodeId decorator);

Status history_status(const History *history, NodeId node);
/* CLOCK_MONOTONIC, in microseconds; 0: never started. */
uint64_t history_since(const History *history, NodeId node);
uint64_t history_duration(const History *history, NodeId node, uint64_t now);

/* Why the node failed, was skipped or is in ERROR; for a success, only a cause that was given. NULL: none. Borrowed,
 * until the next change. */
Cause *history_cause(const History *history, NodeId node);
/* The cause of the last failure, even if the node was started again since; NULL: it has not failed, or has succeeded
 * since. */
Cause *history_last_cause(const History *history, NodeId node);
/* The child that failed last since the node was started; NODE_NONE: none. */
NodeId history_last_failed(const History *history, NodeId node);
/* For a halted node: the nearest node above it that was not halted, and so stopped it; NODE_NONE: the run was
 * halted. */
NodeId history_halted_by(const History *history, NodeId node);

/* The state of a node as numbers, for snapshots, which write it and restore the same history. Times are since the start
 * of the run, in microseconds, plus one; 0: never. */
typedef struct HistoryImage {
        uint64_t since, duration;
        uint32_t status, count;
} HistoryImage;
/* False: the node has no state. */
bool history_image(const History *history, NodeId node, HistoryImage *ret_image);
/* For a new history. False: no node can have this state. */
bool history_restore(History *history, NodeId node, const HistoryImage *image);
Causes *history_causes(History *history);

/* Collects the nodes that change, each once, while watched. */
void history_set_watched(History *history, bool watched);
/* The nodes that changed since the last call, in order of change; NULL: none. */
GArray *history_take_changes(History *history);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(History, history_free)
