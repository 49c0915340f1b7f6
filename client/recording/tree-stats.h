/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Collects numbers about the nodes of a tree from the run records of many runs, for btctl stats. A tree may have
 * changed between two runs, so nodes are matched by their paths.
 */

#include "client/recording/recording.h"

typedef struct NodeStats {
        char *path;                         /* "Boot/Load"; "Boot/Load (2)" for the second node with that path */
        char *name;                         /* the last part of the path, with the title of the node */
        unsigned depth, order;              /* in the newest tree that has it */
        unsigned runs;                      /* in which it was executed */
        uint64_t results[STATUS_NODE_MAX_]; /* executions by outcome */
        uint64_t retries;                   /* executions that followed a failure in the same run */
        GArray *durations;  /* uint64_t, microseconds: of executions that ended by themselves; in order */
        uint64_t failures;  /* failures that began at this node, rather than below it */
        GHashTable *causes; /* of these failures: text -> number */
        unsigned run;       /* number of the last run that executed it */
} NodeStats;

typedef struct TreeStats {
        GPtrArray *nodes;     /* NodeStats, in order of the tree after tree_stats_finish() */
        GHashTable *by_path;  /* path -> NodeStats */
        GHashTable *versions; /* hash -> the tree and its nodes */
        unsigned n_runs;
} TreeStats;

TreeStats *tree_stats_new(void);
void tree_stats_free(TreeStats *stats);
/* Adds the next run: the text of its run record. -EBADMSG: it is damaged, with an error message; then nothing of it is
 * counted. */
int tree_stats_add(TreeStats *stats, const char *text, size_t length, char **ret_error);
void tree_stats_finish(TreeStats *stats);

/* How often the node was executed. */
uint64_t node_stats_executions(const NodeStats *node);
/* The smallest duration that is not exceeded by so many percent of them; 0: there are none. */
uint64_t durations_percentile(const GArray *durations, unsigned percent);
/* The medians of the first and of the last third. False: there are fewer than 30. */
bool durations_trend(const GArray *durations, uint64_t *ret_before, uint64_t *ret_after);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeStats, tree_stats_free)
