/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Makes the timeline of a run, for btctl plot and stats: a bar for each time that a node was running.
 */

#include "engine/tree.h"

typedef struct Bar {
        NodeId node;
        uint64_t begin, end; /* µs since the begin of the timeline */
        uint64_t waiting;    /* since then it waited to begin; without waiting, its begin */
        uint64_t halting;    /* since then it was halting; if it never was, its end */
        Status status;       /* at its end; RUNNING: it has not ended */
        char *label;         /* its path with the elements of ForEach; NULL: there are none */
        char *detail;        /* why, or NULL */
        char *awaits;        /* what it waited for: "for Fetch to stop"; or NULL */
        bool critical;       /* on the critical path: the run waited for it */
        uint64_t awaited;    /* ... from this time on; for a stopped node, its stopping time */
} Bar;

/* An action on the run. */
typedef struct Mark {
        uint64_t time;
        const char *what; /* "paused"; borrowed */
        char *detail;     /* who, or NULL */
} Mark;

typedef struct Timeline {
        const Tree *tree; /* borrowed */
        GArray *bars;     /* of Bar, in order of their begin */
        GArray *marks;    /* of Mark, in order */
        uint32_t *last;   /* for each node, its last bar; UINT32_MAX: none */
        uint64_t begin;   /* of the known part, µs since the start of the run; all other times are since then */
        uint64_t end;     /* of the run, or of the known part of it */
} Timeline;

Timeline *timeline_new(const Tree *tree);
void timeline_free(Timeline *timeline);

/* A node has started or ended. Times must not decrease. */
void timeline_change(Timeline *timeline, NodeId node, Status status, uint64_t time, const char *detail);
/* A node waits before it begins, or was halted and has not ended yet. */
void timeline_wait(Timeline *timeline, NodeId node, uint64_t time, const char *awaits);
void timeline_halt(Timeline *timeline, NodeId node, uint64_t time);
void timeline_mark(Timeline *timeline, uint64_t time, const char *what, const char *detail);
/* Sets the label of the node's last bar, if it has one. */
void timeline_label(Timeline *timeline, NodeId node, const char *label);
/* The run has ended, or no more is known: closes the open bars, and finds the critical path. */
void timeline_finish(Timeline *timeline, uint64_t time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timeline, timeline_free)
