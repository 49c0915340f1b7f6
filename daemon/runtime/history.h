/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What became of each node of a run: its last status, when and for how long, how often it was started, and for a
 * failure the cause: the node where it began and the reason there, handed up from child to parent.
 *
 * Sixteen bytes a node; causes only for nodes that have failed.
 */

#include <glib.h>

#include "engine/machine.h"

typedef struct History History;

/* The tree is borrowed. Times are CLOCK_MONOTONIC microseconds; start is that of the run. */
History *history_new(const Tree *tree, uint64_t start);
void history_free(History *history);

/* The machine has told of a change. text: the node's own reason where it has one, NULL where it follows from the
 * children. */
void history_record(History *history, NodeId node, Status status, Reason reason, const char *text, uint64_t now);

/* A node that has completed is looked at again, and gives the same. */
void history_repeat(History *history, NodeId node);

/* Everything that still counts as running has been halted; the node (or NODE_NONE) and those above it are in error. */
void history_close(History *history, NodeId error_node, uint64_t now);

/* Counts one more start of a leaf, from 1; begins again after 65535. */
uint32_t history_count_start(History *history, NodeId leaf);
/* How often a decorator's child has completed since the decorator was started; 65535 at most. */
uint32_t history_rounds(const History *history, NodeId decorator);

Status history_status(const History *history, NodeId node);
/* CLOCK_MONOTONIC; 0: never started. */
uint64_t history_since(const History *history, NodeId node);
uint64_t history_duration(const History *history, NodeId node, uint64_t now);

/* "LoadConfig: exited with status 3", seen from the node; NULL when it has not failed. To be freed. */
char *history_cause(const History *history, NodeId node);
/* Of its last failure, though it may have been started again since; NULL when there was none or it has succeeded. */
char *history_last_cause(const History *history, NodeId node);
/* As history_cause(), with the whole path: "Boot/LoadConfig: exited with status 3". */
char *history_full_cause(const History *history, NodeId node);
/* The reason alone, where the failure began at the node itself; else NULL. */
const char *history_own_reason(const History *history, NodeId node);

/* Collects the nodes that change, each once, while watched. */
void history_set_watched(History *history, bool watched);
/* Those since the last call, in order of change; NULL when there are none. */
GArray *history_take_changes(History *history);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(History, history_free)
