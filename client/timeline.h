/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * When each node of a run was running: a bar for each time that it was started.
 */

#include "engine/tree.h"

typedef struct Bar {
        NodeId node;
        uint64_t begin, end; /* µs since the start of the run */
        Status status;       /* how it ended; RUNNING: it has not */
        char *detail;        /* why, or NULL */
        bool critical;       /* the run would have been over earlier had this been shorter, */
        uint64_t awaited;    /* from then on: what was stopped was not waited for before */
} Bar;

/* What somebody did to the run. */
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
        uint64_t end;     /* of the run, or of what is known of it */
} Timeline;

Timeline *timeline_new(const Tree *tree);
void timeline_free(Timeline *timeline);

/* A node was started, or has ended. Times must not go back. */
void timeline_change(Timeline *timeline, NodeId node, Status status, uint64_t time, const char *detail);
void timeline_mark(Timeline *timeline, uint64_t time, const char *what, const char *detail);
/* The run has ended, or no more is known: what runs, ends with it. Finds the critical path. */
void timeline_finish(Timeline *timeline, uint64_t time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timeline, timeline_free)
