/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements statistics.h. The counters of a tree stay when the tree is removed, since they must never decrease. */

#include "runtime/statistics.h"

#define MSEC UINT64_C(1000)
#define SEC UINT64_C(1000000)

const uint64_t duration_bounds[DURATION_BOUNDS] = {
        10 * MSEC, 50 * MSEC, 100 * MSEC, 500 * MSEC, SEC,        5 * SEC,     10 * SEC,
        30 * SEC,  60 * SEC,  300 * SEC,  600 * SEC,  3600 * SEC, 21600 * SEC, 86400 * SEC,
};

static void tree_statistics_free(void *data) {
        TreeStatistics *tree = data;

        g_free(tree->tree);
        g_free(tree);
}

Statistics *statistics_new(unsigned trees_max) {
        Statistics *statistics = g_new(Statistics, 1);

        *statistics = (Statistics){
                .since = (uint64_t) g_get_real_time(),
                .trees_max = trees_max,
                .trees = g_ptr_array_new_with_free_func(tree_statistics_free),
                .by_tree = g_hash_table_new(g_str_hash, g_str_equal),
        };
        return statistics;
}

void statistics_free(Statistics *statistics) {
        g_hash_table_unref(statistics->by_tree);
        g_ptr_array_unref(statistics->trees);
        g_free(statistics);
}

/* A tree that is given as text can have any name, so the number of names is limited. */
static TreeStatistics *tree_of(Statistics *statistics, const char *name) {
        TreeStatistics *tree = g_hash_table_lookup(statistics->by_tree, name);

        if (tree)
                return tree;
        if (statistics->trees->len >= statistics->trees_max && !g_str_equal(name, STATISTICS_OTHER))
                return tree_of(statistics, STATISTICS_OTHER);

        tree = g_new0(TreeStatistics, 1);
        tree->tree = g_strdup(name);
        tree->since = (uint64_t) g_get_real_time();
        g_ptr_array_add(statistics->trees, tree);
        g_hash_table_insert(statistics->by_tree, tree->tree, tree);
        return tree;
}

void statistics_begin(Statistics *statistics, const Run *run, bool restart) {
        TreeStatistics *tree = tree_of(statistics, run_tree(run));

        tree->started++;
        tree->restarted += restart;
        tree->active++;
}

void statistics_recover(Statistics *statistics, const Run *run) {
        tree_of(statistics, run_tree(run))->active++;
}

void statistics_finish(Statistics *statistics, const Run *run) {
        TreeStatistics *tree = tree_of(statistics, run_tree(run));
        uint64_t duration = run_finished(run) - run_started(run);
        unsigned i = 0;

        while (i < DURATION_BOUNDS && duration > duration_bounds[i])
                i++;

        tree->active--;
        tree->results[run_status(run)]++;
        tree->durations[i]++;
        tree->duration_sum += duration;
        *(run_is_durable(run) ? &statistics->kept : &statistics->lost) += 1;
}
