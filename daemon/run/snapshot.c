/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes a snapshot as an object, with members in the order in which snapshot-restore.c reads them. The state of each
 * node is a row of numbers, since there can be many nodes. State that can be computed is not written.
 */

#include <json-c/linkhash.h>

#include "basic/cause-pool.h"
#include "basic/cleanup.h"
#include "engine/machine-image.h"
#include "run/progress-state.h"
#include "run/snapshot.h"

static void add_number(json_object *row, uint64_t number) {
        json_object_array_add(row, json_object_new_uint64(number));
}

static json_object *machine_to_json(const Machine *machine) {
        json_object *json = json_object_new_object();
        MachineImage image = machine_image(machine);
        char random[17];

        g_snprintf(random, sizeof(random), "%016" G_GINT64_MODIFIER "x", image.random);
        json_object_object_add(json, "random", json_object_new_string(random));
        json_object_object_add(json, "attention", json_object_new_int64(image.attention));
        json_object_object_add(json, "unprompted", json_object_new_int64(image.unprompted));
        if (image.error) {
                json_object_object_add(json, "error", json_object_new_string(image.error));
                json_object_object_add(json, "error_node", json_object_new_int64(image.error_node));
        }

        return json;
}

static json_object *nodes_to_json(const Machine *machine) {
        json_object *rows = json_object_new_array();
        NodeImage image;

        for (NodeId node = 0; node < machine_tree(machine)->n_nodes; node++)
                if (machine_node_image(machine, node, &image)) {
                        const uint32_t *numbers = (const uint32_t *) (const void *) &image;
                        json_object *row = json_object_new_array();

                        add_number(row, node);
                        for (size_t i = 0; i < NODE_IMAGE_NUMBERS; i++)
                                add_number(row, numbers[i]);
                        json_object_array_add(rows, row);
                }

        return rows;
}

static json_object *history_to_json(const Progress *progress) {
        json_object *rows = json_object_new_array();
        HistoryImage image;

        for (NodeId node = 0; node < machine_tree(progress->machine)->n_nodes; node++)
                if (history_image(progress->history, node, &image)) {
                        json_object *row = json_object_new_array();

                        add_number(row, node);
                        add_number(row, image.since);
                        add_number(row, image.duration);
                        add_number(row, image.status);
                        add_number(row, image.count);
                        json_object_array_add(rows, row);
                }

        return rows;
}

/* In the order in which the causes were set, which shows what decided. */
static json_object *causes_to_json(const Causes *causes, CausePool *pool) {
        g_autoptr(GArray) nodes = causes_nodes(causes);
        json_object *rows = json_object_new_array();

        for (unsigned i = 0; i < nodes->len; i++) {
                NodeId node = g_array_index(nodes, NodeId, i);
                json_object *row = json_object_new_array();

                add_number(row, node);
                json_object_array_add(row, cause_pool_add(pool, causes_get(causes, node)));
                json_object_array_add(rows, row);
        }

        return rows;
}

static json_object *timer_to_json(const Progress *progress, NodeId node, const NodeTimer *timer) {
        json_object *row = json_object_new_array();

        json_object_array_add(row, node == NODE_NONE ? NULL : json_object_new_int64(node));
        add_number(row, timer->span);
        add_number(row, timer->deadline == UINT64_MAX ? UINT64_MAX : timer->deadline - progress->start);
        json_object_array_add(row, json_object_new_boolean(timer->armed));
        return row;
}

static gint compare_nodes(gconstpointer a, gconstpointer b) {
        NodeId x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);

        return (x > y) - (x < y);
}

static json_object *timers_to_json(const Progress *progress) {
        g_autoptr(GList) nodes =
                progress->timers ? g_list_sort(g_hash_table_get_keys(progress->timers), compare_nodes) : NULL;
        json_object *rows = json_object_new_array();

        for (const GList *link = nodes; link; link = link->next)
                json_object_array_add(rows, timer_to_json(progress, GPOINTER_TO_UINT(link->data),
                                                          g_hash_table_lookup(progress->timers, link->data)));

        return rows;
}

/* By node, for timers that were armed after the machine had been suspended. */
static void add_timers_suspended(const Progress *progress, json_object *json) {
        g_autoptr(json_object) by_node = json_object_new_object();
        GHashTableIter iter;
        void *node, *timer;

        if (progress->suspended == 0 || !progress->timers)
                return;

        g_hash_table_iter_init(&iter, progress->timers);
        while (g_hash_table_iter_next(&iter, &node, &timer)) {
                uint64_t suspended = ((const NodeTimer *) timer)->suspended;
                char key[16];

                g_snprintf(key, sizeof(key), "%u", GPOINTER_TO_UINT(node));
                if (suspended > 0)
                        json_object_object_add(by_node, key, json_object_new_uint64(suspended));
        }
        if (json_object_object_length(by_node) > 0)
                json_object_object_add(json, "timers_suspended", g_steal_pointer(&by_node));
}

static json_object *locks_to_json(const Progress *progress) {
        json_object *rows = json_object_new_array();
        const GArray *locks = progress_locks(progress);

        for (unsigned i = 0; i < locks->len; i++) {
                const ProgressLock *lock = &g_array_index(locks, ProgressLock, i);
                json_object *row = json_object_new_array();

                add_number(row, lock->node);
                json_object_array_add(row, json_object_new_boolean(lock->held));
                add_number(row, lock->since - progress->start);
                json_object_array_add(rows, row);
        }

        return rows;
}

static json_object *node_ids_to_json(const GArray *nodes) {
        json_object *json = json_object_new_array();

        for (unsigned i = 0; nodes && i < nodes->len; i++)
                add_number(json, g_array_index(nodes, NodeId, i));

        return json;
}

/* For a condition, the value that the run has seen, not the current one. */
static ProgressValue value_of(const Progress *progress, NodeId node, void *leaf) {
        const ProgressValue *seen = progress_value(progress, node);

        if (machine_tree(progress->machine)->nodes[node].type->class == NODE_CONDITION)
                return seen ? *seen : (ProgressValue){ .status = STATUS_RUNNING };

        return (ProgressValue){ progress->host->leaf_status(leaf), progress->host->leaf_cause(leaf) };
}

/* The variables to which the leaf refers and that had other values at its start. */
static json_object *noted_to_json(const Progress *progress, NodeId node, json_object *noted) {
        const Blackboard *blackboard = variables_scope(progress->variables, node);
        json_object *json = NULL;

        if (!noted)
                return NULL;

        json_object_object_foreach(noted, name, then) {
                json_object *now = NULL;

                if (blackboard_get(blackboard, name, &now) && (now == then || json_object_equal(now, then)))
                        continue;
                json = json ?: json_object_new_object();
                json_object_object_add(json, name, json_object_get(then));
        }

        return json;
}

static json_object *leaf_to_json(const Progress *progress, NodeId node, void *leaf, CausePool *pool) {
        json_object *json = json_object_new_object();
        ProgressValue value = value_of(progress, node, leaf);
        json_object *noted;
        LeafReport report = {};

        progress->host->leaf_report(leaf, &report);
        json_object_object_add(json, "node", json_object_new_int64(node));
        json_object_object_add(json, "attempt", json_object_new_int64(report.attempt));
        json_object_object_add(json, "since", json_object_new_uint64(report.since - progress->start));
        if (report.suspended > 0)
                json_object_object_add(json, "suspended", json_object_new_uint64(report.suspended));
        json_object_object_add(json, "status", json_object_new_string(status_to_string(value.status)));
        json_object_object_add(json, "cause", cause_pool_add(pool, value.cause));
        json_object_object_add(json, "begun", json_object_new_boolean(report.begun));
        json_object_object_add(json, "halted", json_object_new_boolean(report.halted));
        json_object_object_add(json, "remembers", json_object_new_boolean(report.remembers));
        json_object_object_add(json, "memory", json_object_get(report.memory));
        noted = noted_to_json(progress, node, report.noted);
        if (noted)
                json_object_object_add(json, "with", noted);
        return json;
}

static json_object *leaves_to_json(const Progress *progress, CausePool *pool) {
        json_object *leaves = json_object_new_array();

        for (NodeId node = 0; node < machine_tree(progress->machine)->n_nodes; node++) {
                void *leaf = progress_leaf(progress, node);

                if (leaf)
                        json_object_array_add(leaves, leaf_to_json(progress, node, leaf, pool));
        }

        return leaves;
}

json_object *snapshot_of(const Progress *progress) {
        g_autoptr(CausePool) pool = cause_pool_new();
        json_object *json = json_object_new_object();

        json_object_object_add(json, "halting", json_object_new_boolean(progress->halting));
        json_object_object_add(json, "paused", json_object_new_boolean(progress->paused));
        json_object_object_add(json, "first_look", json_object_new_boolean(progress->first_evaluation));
        if (progress->suspended > 0)
                json_object_object_add(json, "suspended", json_object_new_uint64(progress->suspended));
        add_timers_suspended(progress, json);
        if (progress->ready != UINT64_MAX)
                json_object_object_add(json, "ready", json_object_new_uint64(progress->ready - progress->start));
        json_object_object_add(json, "breakpoints", node_ids_to_json(progress->breakpoints));
        json_object_object_add(json, "stops", node_ids_to_json(progress->stops));
        json_object_object_add(json, "machine", machine_to_json(progress->machine));
        json_object_object_add(json, "nodes", nodes_to_json(progress->machine));
        json_object_object_add(json, "history", history_to_json(progress));
        json_object_object_add(json, "why", cause_pool_add(pool, progress->why));
        json_object_object_add(json, "cause", cause_pool_add(pool, progress->cause));
        json_object_object_add(json, "last_look", cause_pool_add(pool, progress->last_evaluation));
        json_object_object_add(json, "error", cause_pool_add(pool, variables_error(progress->variables)));
        json_object_object_add(json, "failed", causes_to_json(history_causes(progress->history), pool));
        json_object_object_add(json, "forced", causes_to_json(&progress->forced, pool));
        json_object_object_add(json, "variables", variables_image(progress->variables));
        json_object_object_add(json, "timers", timers_to_json(progress));
        json_object_object_add(json, "locks", locks_to_json(progress));
        json_object_object_add(json, "leaves", leaves_to_json(progress, pool));
        json_object_object_add(json, "causes", cause_pool_to_json(pool));
        return json;
}
