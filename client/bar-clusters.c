/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One pass through the bars, with the last cluster of each node open. */

#include "bar-clusters.h"

static const unsigned badness[STATUS_MAX_] = {
        [STATUS_SKIPPED] = 1, [STATUS_SUCCESS] = 2, [STATUS_HALTED] = 3, [STATUS_FAILURE] = 4, [STATUS_ERROR] = 5,
};

/* What can be seen by itself does not change its colour for what is beside it. */
static bool belongs(const BarCluster *cluster, const Bar *bar, uint64_t nearness) {
        return cluster->n > 0 && bar->status != STATUS_RUNNING && bar->end - cluster->end < nearness &&
               (bar->status == cluster->status || !cluster->wide);
}

static void begin(BarCluster *cluster, const Bar *bar, uint64_t nearness) {
        *cluster = (BarCluster){
                .node = bar->node,
                .begin = bar->begin,
                .end = bar->end,
                .n = 1,
                .status = bar->status,
                .wide = bar->end - bar->begin >= nearness,
                .last = bar,
        };
}

static void extend(BarCluster *cluster, const Bar *bar) {
        cluster->end = bar->end;
        cluster->n++;
        cluster->last = bar;
        if (badness[bar->status] > badness[cluster->status])
                cluster->status = bar->status;
}

static gint compare_clusters(gconstpointer a, gconstpointer b) {
        const BarCluster *first = a, *second = b;

        if (first->node != second->node)
                return first->node < second->node ? -1 : 1;
        if (first->status != second->status)
                return first->status < second->status ? -1 : 1;

        return (first->last > second->last) - (first->last < second->last);
}

GArray *bar_clusters_new(const Timeline *timeline, uint64_t nearness) {
        g_autofree BarCluster *open = g_new0(BarCluster, timeline->tree->n_nodes);
        GArray *clusters = g_array_new(false, false, sizeof(BarCluster));

        for (unsigned i = 0; i < timeline->bars->len; i++) {
                const Bar *bar = &g_array_index(timeline->bars, Bar, i);
                BarCluster *cluster = &open[bar->node];

                if (belongs(cluster, bar, nearness)) {
                        extend(cluster, bar);
                        continue;
                }
                if (cluster->n > 0)
                        g_array_append_val(clusters, *cluster);
                begin(cluster, bar, nearness);
        }

        for (NodeId node = 0; node < timeline->tree->n_nodes; node++)
                if (open[node].n > 0)
                        g_array_append_val(clusters, open[node]);

        g_array_sort(clusters, compare_clusters);
        return clusters;
}
