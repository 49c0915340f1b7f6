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

typedef struct NodeHistory NodeHistory;

/* A node with the status RUNNING is in one of these phases. */
typedef enum Phase {
        PHASE_BEGUN,
        PHASE_WAITING, /* it was started, but has not begun: for a node to end, at its breakpoint, or for its lock */
        PHASE_HALTING, /* it was halted, and something in it has not ended yet */
} Phase;

/* The tree is borrowed. Times are CLOCK_MONOTONIC microseconds; start is the start of the run. */
NodeHistory *node_history_new(const Tree *tree, uint64_t start);
void node_history_free(NodeHistory *history);

/* Records a change that the machine reported. cause: the node's own cause (taken); NULL: it follows from the
 * children. */
void node_history_record(NodeHistory *history, NodeId node, Status status, Reason reason, Cause *cause, uint64_t now);

/* Records that the node waits before it begins. True: that is a change. */
bool node_history_record_waiting(NodeHistory *history, NodeId node, uint64_t now);
/* Records that the node was halted at that time, and has not ended yet. True: that is a change. */
bool node_history_record_halting(NodeHistory *history, NodeId node, uint64_t since);

/* Records that a condition was evaluated again with the same status. cause: its cause now, or NULL. The nodes above can
 * have started again since its status has changed, so it has reached the status now. */
void node_history_repeat(NodeHistory *history, NodeId node, const Cause *cause, uint64_t now);

/* Sets the node and those above it to ERROR; later reports do not change that. Takes the cause. */
void node_history_fail(NodeHistory *history, NodeId node, Cause *cause, uint64_t now);

/* Counts one more start of a leaf, from 1; after 65535 it is 1 again. */
uint32_t node_history_count_start(NodeHistory *history, NodeId leaf);
/* How often a decorator's child has completed since the decorator was started; at most 65535. */
uint32_t node_history_rounds(const NodeHistory *history, NodeId decorator);

Status node_history_status(const NodeHistory *history, NodeId node);
/* BEGUN for a node that is not RUNNING. */
Phase node_history_phase(const NodeHistory *history, NodeId node);
/* For people and programs: the name of the status, or "waiting" or "halting". */
const char *node_history_state(const NodeHistory *history, NodeId node);
/* CLOCK_MONOTONIC, in microseconds; 0: never started. For a node that is waiting or halting, since when it is; else the
 * start of its last execution. */
uint64_t node_history_since(const NodeHistory *history, NodeId node);
/* The time since then, or how long the last execution took: from when it began until it had really ended. */
uint64_t node_history_duration(const NodeHistory *history, NodeId node, uint64_t now);

/* Why the node failed, was skipped or is in ERROR; for a success, only a cause that was given. NULL: none. Borrowed,
 * until the next change. */
Cause *node_history_cause(const NodeHistory *history, NodeId node);
/* The cause of the last failure, even if the node was started again since; NULL: it has not failed, or has succeeded
 * since. */
Cause *node_history_last_cause(const NodeHistory *history, NodeId node);
/* The child that got the status last since the node was started, or the first child with it if the type's first failure
 * decides; NODE_NONE: none. */
NodeId node_history_deciding_child(const NodeHistory *history, NodeId node, Status status);
/* True if the child got the status in the last execution of its parent. */
bool node_history_has_reached(const NodeHistory *history, NodeId node, NodeId child, Status status);

/* For a node that is halted or halting: the nearest node above it that is neither, and so stopped it; NODE_NONE: the
 * run was halted. */
NodeId node_history_halted_by(const NodeHistory *history, NodeId node);

/* The state of a node as numbers, for snapshots, which write it and restore the same history. Times are since the start
 * of the run, in microseconds, plus one; 0: never. The duration of a RUNNING node says what it does: that it has begun,
 * that it is waiting, or, if it is halting, after how many microseconds it was halted, plus NODE_HISTORY_HALTED_AFTER.
 */
#define NODE_HISTORY_BEGUN 0u
#define NODE_HISTORY_WAITING 1u
#define NODE_HISTORY_HALTED_AFTER 2u

typedef struct NodeHistoryImage {
        uint64_t since, duration;
        uint32_t status, count;
} NodeHistoryImage;
/* False: the node has no state. */
bool node_history_image(const NodeHistory *history, NodeId node, NodeHistoryImage *ret_image);
/* For a new history. False: no node can have this state. */
bool node_history_restore(NodeHistory *history, NodeId node, const NodeHistoryImage *image);
Causes *node_history_causes(NodeHistory *history);

/* Collects the nodes that change, each once, while watched. */
void node_history_set_watched(NodeHistory *history, bool watched);
/* Something else about the node has changed that is shown with its state. */
void node_history_note_change(NodeHistory *history, NodeId node);
/* The nodes that changed since the last call, in order of change; NULL: none. */
GArray *node_history_take_changes(NodeHistory *history);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(NodeHistory, node_history_free)
