/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What became of each node of a run: its last status, when and for how long, how often it was started, and for what
 * has not succeeded the cause, with the chain that leads down to where it began.
 *
 * Sixteen bytes a node, for those that have run or are near to one that has; causes only for nodes that have one.
 */

#include "definition/causes.h"
#include "engine/machine.h"

typedef struct History History;

/* The tree is borrowed. Times are CLOCK_MONOTONIC microseconds; start is that of the run. */
History *history_new(const Tree *tree, uint64_t start);
void history_free(History *history);

/* The machine has told of a change. cause: the node's own where it has one (taken), NULL where it follows from the
 * children. */
void history_record(History *history, NodeId node, Status status, Reason reason, Cause *cause, uint64_t now);

/* A condition is looked at again, and is the same; now for this cause, or NULL. */
void history_repeat(History *history, NodeId node, const Cause *cause);

/* The node and those above it are in error, whatever is told of them later. Takes the cause. */
void history_fail(History *history, NodeId node, Cause *cause, uint64_t now);

/* Counts one more start of a leaf, from 1; begins again after 65535. */
uint32_t history_count_start(History *history, NodeId leaf);
/* How often a decorator's child has completed since the decorator was started; 65535 at most. */
uint32_t history_rounds(const History *history, NodeId decorator);

Status history_status(const History *history, NodeId node);
/* CLOCK_MONOTONIC; 0: never started. */
uint64_t history_since(const History *history, NodeId node);
uint64_t history_duration(const History *history, NodeId node, uint64_t now);

/* Why it failed, was skipped or is in error; of a success only what was given. NULL: nothing. Borrowed, until the
 * next change. */
Cause *history_cause(const History *history, NodeId node);
/* Of its last failure, though it may have been started again since; NULL when there was none or it has succeeded. */
Cause *history_last_cause(const History *history, NodeId node);
/* The child of the node that has failed last, since the node has started; NODE_NONE: none has. */
NodeId history_last_failed(const History *history, NodeId node);
/* For a node that was halted: the one above it that was not, and so has stopped it; NODE_NONE: the run was halted. */
NodeId history_halted_by(const History *history, NodeId node);

/* What became of a node, as numbers, for who writes it down and makes the same history again. Times are since the start
 * of the run, plus one; 0: never. */
typedef struct HistoryImage {
        uint64_t since, duration;
        uint32_t status, count;
} HistoryImage;
/* False: nothing has. */
bool history_image(const History *history, NodeId node, HistoryImage *ret_image);
/* Of a new history. False: nothing can have become of a node that way. */
bool history_restore(History *history, NodeId node, const HistoryImage *image);
Causes *history_causes(const History *history);

/* Collects the nodes that change, each once, while watched. */
void history_set_watched(History *history, bool watched);
/* Those since the last call, in order of change; NULL when there are none. */
GArray *history_take_changes(History *history);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(History, history_free)
