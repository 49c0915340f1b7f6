/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements tree-stats.h. Each run record is replayed once. A damaged one is only noticed at its damage, so the
 * changes of a run are collected first, and counted at its end.
 */

#include <errno.h>
#include <string.h>

#include "basic/cause.h"
#include "client/files.h"
#include "client/recording/tree-stats.h"
#include "run/replay.h"

#define TREND_MIN 30u

/* A version of the tree, which its runs share. */
typedef struct Version {
        Definition *definition;
        NodeStats **nodes; /* for each node of the tree */
} Version;

/* A node has started or ended. */
typedef struct Change {
        NodeId node;
        Status status;
        bool decided; /* the outcome is forced or a guard's; a node that ran was halted for it */
        uint64_t time, duration;
        char *cause; /* of a failure that began here, or NULL */
} Change;

typedef struct Counting {
        const Run *run;
        GArray *changes; /* Change */
} Counting;

static void version_free(void *data) {
        Version *version = data;

        definition_unref(version->definition);
        g_free(version->nodes);
        g_free(version);
}

static void node_free(void *data) {
        NodeStats *node = data;

        g_free(node->path);
        g_free(node->name);
        g_array_unref(node->durations);
        g_hash_table_unref(node->causes);
        g_free(node);
}

static void change_clear(void *data) {
        g_free(((Change *) data)->cause);
}

TreeStats *tree_stats_new(void) {
        TreeStats *stats = g_new(TreeStats, 1);

        *stats = (TreeStats){
                .nodes = g_ptr_array_new_with_free_func(node_free),
                .by_path = g_hash_table_new(g_str_hash, g_str_equal),
                .versions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, version_free),
        };
        return stats;
}

void tree_stats_free(TreeStats *stats) {
        g_hash_table_unref(stats->versions);
        g_hash_table_unref(stats->by_path);
        g_ptr_array_unref(stats->nodes);
        g_free(stats);
}

/* Takes the path. */
static NodeStats *node_of(TreeStats *stats, char *path) {
        NodeStats *node = g_hash_table_lookup(stats->by_path, path);

        if (node) {
                g_free(path);
                return node;
        }

        node = g_new0(NodeStats, 1);
        node->path = path;
        node->durations = g_array_new(false, false, sizeof(uint64_t));
        node->causes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_ptr_array_add(stats->nodes, node);
        g_hash_table_insert(stats->by_path, node->path, node);
        return node;
}

/* The node that stands for this one: a ForEach has several copies of its child, which are counted together. */
static NodeId first_copy(const Tree *tree, NodeId node) {
        for (NodeId id = node, parent; (parent = tree->nodes[id].parent) != NODE_NONE; id = parent)
                if (tree->nodes[parent].type->flags & TYPE_FOR_EACH && id != parent + 1)
                        return first_copy(tree, parent + 1 + (node - id));

        return node;
}

static void map_nodes(TreeStats *stats, Version *version) {
        const Tree *tree = definition_tree(version->definition);
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        version->nodes = g_new(NodeStats *, tree->n_nodes);
        for (NodeId node = 0; node < tree->n_nodes; node++) {
                NodeId parent = tree->nodes[node].parent, first = first_copy(tree, node);
                const char *name = tree_node_name(tree, node);
                g_autofree char *full = NULL, *title = NULL, *titled = NULL;
                char *path;
                NodeStats *it;
                unsigned n;

                if (first != node) {
                        version->nodes[node] = version->nodes[first];
                        continue;
                }

                full = tree_node_path(tree, node);
                path = tree_plain_path(full);
                n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, path)) + 1;
                g_hash_table_insert(seen, g_strdup(path), GUINT_TO_POINTER(n));
                if (n > 1) {
                        char *numbered = g_strdup_printf("%s (%u)", path, n);

                        g_free(path);
                        path = numbered;
                }

                it = version->nodes[node] = node_of(stats, path);
                g_free(it->name);
                /* "LoadConfig", or "Spawn /usr/bin/load" if the node has no name of its own. */
                title = definition_title(version->definition, node);
                if (title && g_str_equal(name, tree->nodes[node].type->name))
                        titled = g_strdup_printf("%s %s", name, title);
                it->name = tree_plain_path(titled ?: name);
                it->order = node;
                it->depth = parent == NODE_NONE ? 0 : version->nodes[parent]->depth + 1;
        }
}

/* The definition is borrowed from the stats: the first run with this hash has made it. */
static int find_version(TreeStats *stats, const RecordHeader *header, Version **ret_version, char **ret_error) {
        g_autoptr(Definition) definition = NULL;
        Version *version = g_hash_table_lookup(stats->versions, header->hash);
        int r;

        if (!version) {
                r = record_definition_new(header, node_type_tables, &definition, ret_error);
                if (r < 0)
                        return r;

                version = g_new0(Version, 1);
                version->definition = g_steal_pointer(&definition);
                map_nodes(stats, version);
                g_hash_table_insert(stats->versions, g_strdup(header->hash), version);
        }

        *ret_version = version;
        return 0;
}

static void on_changed(NodeId node, void *userdata) {
        Counting *counting = userdata;
        const NodeHistory *history = run_node_history(counting->run);
        Status status = node_history_status(history, node);
        const Cause *cause = node_history_cause(history, node);
        Change *change;

        /* A node that only waits has not begun. */
        if (status == STATUS_RUNNING && node_history_phase(history, node) == PHASE_WAITING)
                return;

        g_array_set_size(counting->changes, counting->changes->len + 1);
        change = &g_array_index(counting->changes, Change, counting->changes->len - 1);
        *change = (Change){
                .node = node,
                .status = status,
                .decided = cause && (g_str_equal(cause->kind, CAUSE_FORCED) || g_str_equal(cause->kind, CAUSE_GUARD)),
                .time = run_now(counting->run),
        };
        if (status != STATUS_RUNNING)
                change->duration = node_history_duration(history, node, change->time);
        if (status == STATUS_FAILURE && cause && !cause->because)
                change->cause = g_strdup(cause->text);
}

/* What was last seen of a node in this run. */
typedef struct Last {
        Status status;
        uint64_t halted; /* when it was halted; 0: it was not */
} Last;

static void count(const Version *version, unsigned run, Last *all, const Change *change) {
        const Tree *tree = definition_tree(version->definition);
        NodeStats *node = version->nodes[change->node];
        NodeId parent = tree->nodes[change->node].parent;
        Last *last = &all[change->node];
        Status before = last->status;

        /* While the parent is evaluated again, a skipped node is skipped again. A node that was halted while it waited
         * was not executed. */
        if ((change->status == STATUS_SKIPPED && before == STATUS_SKIPPED) ||
            (change->status == STATUS_HALTED && before != STATUS_RUNNING))
                return;

        last->status = change->status;
        if (change->decided && last->halted == change->time) {
                node->results[STATUS_HALTED]--;
        } else if (before != STATUS_RUNNING) {
                node->retries += before == STATUS_FAILURE;
                node->runs += node->run != run;
                node->run = run;
        }
        if (change->status == STATUS_RUNNING)
                return;

        last->halted = change->status == STATUS_HALTED ? change->time : 0;
        node->results[change->status]++;
        if ((change->status == STATUS_SUCCESS || change->status == STATUS_FAILURE) && !change->decided)
                g_array_append_val(node->durations, change->duration);
        if (change->cause) {
                unsigned n = GPOINTER_TO_UINT(g_hash_table_lookup(node->causes, change->cause));

                node->failures++;
                g_hash_table_insert(node->causes, g_strdup(change->cause), GUINT_TO_POINTER(n + 1));
        }

        /* The next element is no retry. */
        if (parent != NODE_NONE && tree->nodes[parent].type->flags & TYPE_FOR_EACH)
                memset(all + change->node, 0, (tree->nodes[change->node].end - change->node) * sizeof(Last));
}

int tree_stats_add(TreeStats *stats, const char *text, size_t length, char **ret_error) {
        static const RunObserver observer = { .changed = on_changed };
        g_autoptr(GArray) changes = g_array_new(false, false, sizeof(Change));
        Counting counting = { .changes = changes };
        g_autoptr(RunRecord) record = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autofree Last *last = NULL;
        Version *version;
        int r;

        g_array_set_clear_func(changes, change_clear);
        r = run_record_read_text(text, length, &record, ret_error);
        if (r >= 0)
                r = find_version(stats, &record->header, &version, ret_error);
        if (r >= 0)
                r = replay_new(record, version->definition, &replay, ret_error);
        if (r < 0)
                return r;

        counting.run = replay_run(replay);
        run_observe(replay_run(replay), &observer, &counting);
        r = replay_until(replay, UINT64_MAX, ret_error);
        if (r < 0)
                return r;

        last = g_new0(Last, definition_tree(version->definition)->n_nodes);
        stats->n_runs++;
        for (unsigned i = 0; i < changes->len; i++)
                count(version, stats->n_runs, last, &g_array_index(changes, Change, i));

        return 0;
}

static gint compare_orders(gconstpointer a, gconstpointer b) {
        const NodeStats *first = *(const NodeStats *const *) a, *second = *(const NodeStats *const *) b;

        return first->order != second->order ? (first->order > second->order) - (first->order < second->order)
                                             : strcmp(first->path, second->path);
}

void tree_stats_finish(TreeStats *stats) {
        g_ptr_array_sort(stats->nodes, compare_orders);
}

uint64_t node_stats_executions(const NodeStats *node) {
        uint64_t n = 0;

        for (Status status = STATUS_IDLE; status < STATUS_NODE_MAX_; status++)
                n += node->results[status];
        return n;
}

static gint compare_numbers(gconstpointer a, gconstpointer b) {
        uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

        return (x > y) - (x < y);
}

/* The nearest rank. */
static uint64_t percentile_of(const GArray *durations, unsigned from, unsigned n, unsigned percent) {
        g_autofree uint64_t *sorted = g_new(uint64_t, MAX(n, 1));

        if (n == 0)
                return 0;

        memcpy(sorted, &g_array_index(durations, uint64_t, from), n * sizeof(uint64_t));
        qsort(sorted, n, sizeof(uint64_t), compare_numbers);
        return sorted[((uint64_t) n * percent + 99) / 100 - 1];
}

uint64_t durations_percentile(const GArray *durations, unsigned percent) {
        return percentile_of(durations, 0, durations->len, percent);
}

bool durations_trend(const GArray *durations, uint64_t *ret_before, uint64_t *ret_after) {
        unsigned n = durations->len / 3;

        if (durations->len < TREND_MIN)
                return false;

        *ret_before = percentile_of(durations, 0, n, 50);
        *ret_after = percentile_of(durations, durations->len - n, n, 50);
        return true;
}
