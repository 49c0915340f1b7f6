/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the counters of this btd, which grow as long as it runs, for GetMetrics: the runs of each tree, their results
 * and durations, and what all runs together have done. The manager counts; service/metrics-bus.c reads.
 */

#include "run/run.h"

/* Upper bounds of the durations that are counted together, in microseconds; longer ones are counted last. */
#define DURATION_BOUNDS 14u
extern const uint64_t duration_bounds[DURATION_BOUNDS];

/* The tree under which the runs of further trees are counted when there are too many names. No tree can have this
 * name. */
#define STATISTICS_OTHER "(other)"

typedef struct TreeStatistics {
        char *tree;
        uint64_t since; /* CLOCK_REALTIME, microseconds: when counting began */
        uint64_t started, restarted;
        uint64_t active;               /* runs that have not finished; recovered ones, too */
        uint64_t results[STATUS_MAX_]; /* finished runs, by status */
        uint64_t durations[DURATION_BOUNDS + 1];
        uint64_t duration_sum; /* microseconds */
} TreeStatistics;

typedef struct Statistics {
        uint64_t since;      /* as of a tree */
        RunCounts totals;    /* of all runs, while this btd ran them */
        uint64_t kept, lost; /* finished runs with and without a run record */
        unsigned trees_max;
        GPtrArray *trees; /* TreeStatistics, in order of their first run */
        GHashTable *by_tree;
} Statistics;

Statistics *statistics_new(unsigned trees_max);
void statistics_free(Statistics *statistics);

/* A run was started, or restarted after another one has ended. */
void statistics_begin(Statistics *statistics, const Run *run, bool restart);
/* A run of the previous btd was recovered. */
void statistics_recover(Statistics *statistics, const Run *run);
void statistics_finish(Statistics *statistics, const Run *run);
