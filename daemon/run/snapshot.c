/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements snapshot.h. A snapshot is an object with the saved members of a run, which RUN_MEMBERS lists, in the order
 * in which they are restored, and the causes to which they refer. The state of each node is a row of numbers, since
 * there can be many nodes. State that can be computed is not written. Before a snapshot is restored, everything in it
 * is checked, so that an invalid one is refused and does no harm.
 */

#include <assert.h>
#include <json-c/linkhash.h>
#include <stddef.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/foreach.h"
#include "basic/json-parse.h"
#include "basic/sorted.h"
#include "engine/machine.h"
#include "run/run-state.h"
#include "run/snapshot.h"

static json_object *json_number(uint64_t value) {
        return json_object_new_uint64(value);
}

/* Takes the cells. */
static json_object *add_row(json_object *rows, size_t n, json_object *const *cells) {
        json_object *row = json_object_new_array();

        for (size_t i = 0; i < n; i++)
                json_object_array_add(row, cells[i]);
        json_object_array_add(rows, row);
        return row;
}

#define ADD_ROW(rows, ...)                                                                                             \
        add_row(rows, sizeof((json_object *[]){ __VA_ARGS__ }) / sizeof(json_object *),                                \
                (json_object *[]){ __VA_ARGS__ })

/* The formats of the members, each with the function that reads it. */

static json_object *save_flag(const Run *run, const void *member, CausePool *pool) {
        return json_object_new_boolean(*(const bool *) member);
}

static json_object *save_number(const Run *run, const void *member, CausePool *pool) {
        return json_number(*(const uint64_t *) member);
}

/* A time after the start; UINT64_MAX: none. */
static json_object *save_time(const Run *run, const void *member, CausePool *pool) {
        uint64_t time = *(const uint64_t *) member;

        return time != UINT64_MAX ? json_number(time - run->start) : NULL;
}

static json_object *save_node_set(const Run *run, const void *member, CausePool *pool) {
        const GArray *nodes = *(GArray *const *) member;
        json_object *json = json_object_new_array();

        for (unsigned i = 0; nodes && i < nodes->len; i++)
                json_object_array_add(json, json_number(g_array_index(nodes, NodeId, i)));

        return json;
}

static json_object *save_cause(const Run *run, const void *member, CausePool *pool) {
        return cause_pool_add(pool, *(Cause *const *) member);
}

/* In the order in which the causes were set, which shows what decided. */
static json_object *causes_to_json(const Causes *causes, CausePool *pool) {
        g_autoptr(GArray) nodes = causes_nodes(causes);
        json_object *rows = json_object_new_array();

        for (unsigned i = 0; i < nodes->len; i++) {
                NodeId node = g_array_index(nodes, NodeId, i);

                ADD_ROW(rows, json_number(node), cause_pool_add(pool, causes_get(causes, node)));
        }

        return rows;
}

static json_object *save_timers(const Run *run, const void *member, CausePool *pool) {
        g_autoptr(GList) nodes = sorted_keys(run->timers);
        json_object *rows = json_object_new_array();

        for (const GList *link = nodes; link; link = link->next) {
                const NodeTimer *timer = g_hash_table_lookup(run->timers, link->data);
                NodeId node = GPOINTER_TO_UINT(link->data);
                json_object *row =
                        ADD_ROW(rows, node == NODE_NONE ? NULL : json_number(node), json_number(timer->span),
                                json_number(timer->deadline == UINT64_MAX ? UINT64_MAX : timer->deadline - run->start),
                                json_object_new_boolean(timer->armed), json_number(timer->suspended));

                if (timer->waited)
                        json_object_array_add(row, json_object_new_string(timer->waited));
        }

        return rows;
}

/* All members of RunCounts are numbers. */
#define N_COUNTS (sizeof(RunCounts) / sizeof(uint64_t))

static json_object *save_counts(const Run *run, const void *member, CausePool *pool) {
        const uint64_t *counts = member;
        json_object *row = json_object_new_array();

        for (size_t i = 0; i < N_COUNTS; i++)
                json_object_array_add(row, json_number(counts[i]));

        return row;
}

static json_object *save_locks(const Run *run, const void *member, CausePool *pool) {
        json_object *rows = json_object_new_array();
        const GArray *locks = run_locks(run);

        ARRAY_FOREACH(const RunLock, lock, locks)
                ADD_ROW(rows, json_number(lock->node), json_object_new_boolean(lock->held),
                        json_number(lock->since - run->start));

        return rows;
}

static json_object *save_queues(const Run *run, const void *member, CausePool *pool) {
        g_autoptr(GList) nodes = sorted_keys(run->queues);
        json_object *rows = json_object_new_array();

        for (const GList *link = nodes; link; link = link->next) {
                const SignalQueue *queue = run_queue(run, GPOINTER_TO_UINT(link->data));

                ADD_ROW(rows, json_number(GPOINTER_TO_UINT(link->data)), json_object_get(queue->noted),
                        json_object_get(queue->signals), json_number(queue->missed));
        }

        return rows;
}

static json_object *save_skips(const Run *run, const void *member, CausePool *pool) {
        json_object *nodes = json_object_new_array();

        for (NodeId node = 0; run->skips && node < machine_tree(run->machine)->n_nodes; node++)
                if (run_was_skipped_before(run, node))
                        json_object_array_add(nodes, json_number(node));

        return nodes;
}

static json_object *leaf_to_json(const Run *run, const RunLeaf *leaf, CausePool *pool) {
        json_object *json = json_object_new_object(), *with = NULL, *without = NULL, *value = NULL;

        if (leaf->noted) {
                const Blackboard *scope = variables_scope(run->variables, leaf->node);
                g_autoptr(json_object) now = definition_note_variables(run->definition, leaf->node, scope);

                /* The variables to which it refers that had other values at its start, and those that were not set. */
                json_object_object_foreach(leaf->noted, name, then) {
                        if (blackboard_get(scope, name, &value) &&
                            (value == then || blackboard_same_value(value, then)))
                                continue;
                        with = with ?: json_object_new_object();
                        json_object_object_add(with, name, json_object_get(then));
                }
                json_object_object_foreach(now, other, ignored) {
                        (void) ignored;
                        if (json_object_object_get_ex(leaf->noted, other, NULL))
                                continue;
                        without = without ?: json_object_new_array();
                        json_object_array_add(without, json_object_new_string(other));
                }
        }

        json_object_object_add(json, "node", json_object_new_int64(leaf->node));
        json_object_object_add(json, "attempt", json_object_new_int64(leaf->attempt));
        json_object_object_add(json, "since", json_object_new_uint64(leaf->since - run->start));
        json_object_object_add(json, "suspended", json_object_new_uint64(leaf->suspended));
        json_object_object_add(json, "status", json_object_new_string(status_to_string(leaf->status)));
        json_object_object_add(json, "cause", cause_pool_add(pool, leaf->cause));
        json_object_object_add(json, "known", json_object_new_boolean(leaf->known));
        if (leaf->counts != STATUS_IDLE)
                json_object_object_add(json, "counts", json_object_new_string(status_to_string(leaf->counts)));
        json_object_object_add(json, "halted", json_object_new_boolean(leaf->halted));
        json_object_object_add(json, "remembers", json_object_new_boolean(leaf->has_memo));
        json_object_object_add(json, "memory", json_object_get(leaf->memo));
        if (with)
                json_object_object_add(json, "with", with);
        if (without)
                json_object_object_add(json, "without", without);
        return json;
}

static json_object *save_forced(const Run *run, const void *member, CausePool *pool) {
        return causes_to_json(&run->forced, pool);
}

static json_object *save_history(const Run *run, const void *member, CausePool *pool) {
        json_object *json = json_object_new_object(), *nodes = json_object_new_array();
        NodeHistoryImage image;

        for (NodeId node = 0; node < machine_tree(run->machine)->n_nodes; node++)
                if (node_history_image(run->history, node, &image))
                        ADD_ROW(nodes, json_number(node), json_number(image.since), json_number(image.duration),
                                json_number(image.status), json_number(image.count));
        json_object_object_add(json, "nodes", nodes);
        json_object_object_add(json, "failed", causes_to_json(node_history_causes(run->history), pool));
        return json;
}

static json_object *save_variables(const Run *run, const void *member, CausePool *pool) {
        json_object *json = variables_image(run->variables);

        json_object_object_add(json, "error", cause_pool_add(pool, variables_error(run->variables)));
        return json;
}

/* The machine has the leaves as the data of its nodes. */
static json_object *save_machine(const Run *run, const void *member, CausePool *pool) {
        json_object *json = json_object_new_object(), *nodes = json_object_new_array(),
                    *leaves = json_object_new_array();
        MachineImage image = machine_image(run->machine);
        NodeImage of_node;
        char random[17];

        g_snprintf(random, sizeof(random), "%016" G_GINT64_MODIFIER "x", image.random);
        json_object_object_add(json, "random", json_object_new_string(random));
        json_object_object_add(json, "attention", json_object_new_int64(image.attention));
        json_object_object_add(json, "unprompted", json_object_new_int64(image.unprompted));
        if (image.error) {
                json_object_object_add(json, "error", json_object_new_string(image.error));
                json_object_object_add(json, "error_node", json_object_new_int64(image.error_node));
        }

        for (NodeId node = 0; node < machine_tree(run->machine)->n_nodes; node++)
                if (machine_node_image(run->machine, node, &of_node)) {
                        const uint32_t *numbers = (const uint32_t *) (const void *) &of_node;
                        json_object *cells[1 + NODE_IMAGE_NUMBERS] = { json_number(node) };

                        for (size_t i = 0; i < NODE_IMAGE_NUMBERS; i++)
                                cells[i + 1] = json_number(numbers[i]);
                        add_row(nodes, G_N_ELEMENTS(cells), cells);
                }
        json_object_object_add(json, "nodes", nodes);
        for (const RunLeaf *leaf = run_next_leaf(run, 0); leaf; leaf = run_next_leaf(run, leaf->node + 1))
                json_object_array_add(leaves, leaf_to_json(run, leaf, pool));
        json_object_object_add(json, "leaves", leaves);
        return json;
}

/* More does not fit into a RunLeaf, and no machine runs that long. */
#define LEAF_SINCE_MAX (UINT64_C(1) << 51)

typedef struct Reading {
        Run *run;
        const Tree *tree;
        CausePool *pool;
} Reading;

static bool flag(json_object *json, const char *name) {
        return json_object_get_boolean(json_member(json, name, json_type_boolean));
}

static bool get_number(json_object *value, uint64_t max, uint64_t *ret_number) {
        uint64_t number = json_object_get_uint64(value);

        if (!json_object_is_type(value, json_type_int) || number > max)
                return false;

        *ret_number = number;
        return true;
}

static bool restore_flag(const Reading *reading, void *member, json_object *json) {
        *(bool *) member = json_object_get_boolean(json);
        return json_object_is_type(json, json_type_boolean);
}

static bool restore_number(const Reading *reading, void *member, json_object *json) {
        return get_number(json, ENTRY_TIME_MAX, member);
}

static bool restore_time(const Reading *reading, void *member, json_object *json) {
        uint64_t time;

        if (json && !get_number(json, ENTRY_TIME_MAX, &time))
                return false;

        *(uint64_t *) member = json ? reading->run->start + time : UINT64_MAX;
        return true;
}

static bool get_node(const Reading *reading, json_object *value, NodeId *ret_node) {
        uint64_t node;

        if (!get_number(value, reading->tree->n_nodes - 1, &node))
                return false;

        *ret_node = (NodeId) node;
        return true;
}

static bool restore_node_set(const Reading *reading, void *member, json_object *json) {
        if (!json_object_is_type(json, json_type_array))
                return false;

        for (size_t i = 0; i < json_object_array_length(json); i++) {
                NodeId node;

                if (!get_node(reading, json_object_array_get_idx(json, i), &node))
                        return false;
                node_set_add(member, node);
        }

        return true;
}

static bool restore_cause(const Reading *reading, void *member, json_object *json) {
        Cause *cause;

        if (!cause_pool_get(reading->pool, json, &cause))
                return false;

        *(Cause **) member = cause_ref(cause);
        return true;
}

/* Calls read for each row of an array of arrays of that length, or of up to so many elements more. */
static bool each_row(const Reading *reading, json_object *rows, size_t length, size_t optional,
                     bool (*read)(const Reading *reading, json_object *row)) {
        if (!json_object_is_type(rows, json_type_array))
                return false;

        for (size_t i = 0; i < json_object_array_length(rows); i++) {
                json_object *row = json_object_array_get_idx(rows, i);

                if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) < length ||
                    json_object_array_length(row) > length + optional || !read(reading, row))
                        return false;
        }

        return true;
}

static json_object *cell(json_object *row, size_t i) {
        return json_object_array_get_idx(row, i);
}

/* The cause below must come from a node below. */
static bool cause_fits(const Reading *reading, const Cause *cause) {
        const Cause *because = cause->because;

        if (cause->node != NODE_NONE && cause->node >= reading->tree->n_nodes)
                return false;
        if (!cause->text && cause_is_told(reading->tree, cause))
                return false;

        return !because || (because->node < reading->tree->n_nodes &&
                            (cause->node == NODE_NONE ||
                             (because->node >= cause->node && because->node < reading->tree->nodes[cause->node].end)));
}

/* Borrowed. */
static bool get_cause(const Reading *reading, json_object *json, const char *name, Cause **ret_cause) {
        json_object *place = NULL;

        return json_object_object_get_ex(json, name, &place) && cause_pool_get(reading->pool, place, ret_cause);
}

static bool read_node(const Reading *reading, json_object *row) {
        uint32_t numbers[NODE_IMAGE_NUMBERS];
        NodeImage before;
        NodeId node;

        if (!get_node(reading, cell(row, 0), &node) || machine_node_image(reading->run->machine, node, &before))
                return false;

        for (size_t i = 0; i < NODE_IMAGE_NUMBERS; i++) {
                uint64_t number;

                if (!get_number(cell(row, i + 1), UINT32_MAX, &number))
                        return false;
                numbers[i] = (uint32_t) number;
        }

        return machine_restore_node(reading->run->machine, node, (const NodeImage *) (const void *) numbers);
}

static bool read_node_history(const Reading *reading, json_object *row) {
        uint64_t status, count;
        NodeHistoryImage image;
        NodeId node;

        if (!get_node(reading, cell(row, 0), &node) || !get_number(cell(row, 1), UINT64_MAX, &image.since) ||
            !get_number(cell(row, 2), UINT64_MAX, &image.duration) || !get_number(cell(row, 3), UINT32_MAX, &status) ||
            !get_number(cell(row, 4), UINT32_MAX, &count))
                return false;

        image.status = (uint32_t) status;
        image.count = (uint32_t) count;
        return node_history_restore(reading->run->history, node, &image);
}

static bool set_cause(const Reading *reading, Causes *causes, json_object *row) {
        Cause *cause = NULL;
        NodeId node;

        if (!get_node(reading, cell(row, 0), &node) || !cell(row, 1) ||
            !cause_pool_get(reading->pool, cell(row, 1), &cause) || cause->node != node)
                return false;

        causes_set(causes, node, cause_ref(cause));
        return true;
}

static bool read_failed(const Reading *reading, json_object *row) {
        return set_cause(reading, node_history_causes(reading->run->history), row);
}

static bool read_forced(const Reading *reading, json_object *row) {
        return set_cause(reading, &reading->run->forced, row);
}

static bool restore_forced(const Reading *reading, void *member, json_object *json) {
        return each_row(reading, json, 2, 0, read_forced);
}

static bool read_timer(const Reading *reading, json_object *row) {
        Run *run = reading->run;
        NodeId node = NODE_NONE;
        uint64_t span, left, suspended;
        NodeTimer *timer;

        if ((cell(row, 0) && !get_node(reading, cell(row, 0), &node)) || !get_number(cell(row, 1), UINT64_MAX, &span) ||
            !get_number(cell(row, 2), UINT64_MAX, &left) || !get_number(cell(row, 4), ENTRY_TIME_MAX, &suspended))
                return false;

        timer = g_new(NodeTimer, 1);
        *timer = (NodeTimer){
                .span = span,
                .deadline = left < UINT64_MAX - run->start ? run->start + left : UINT64_MAX,
                .armed = json_object_get_boolean(cell(row, 3)),
                .suspended = suspended,
                .waited = g_strdup(json_object_get_string(cell(row, 5))),
        };
        run_put_timer(run, node, timer);
        return true;
}

static bool restore_timers(const Reading *reading, void *member, json_object *json) {
        return each_row(reading, json, 5, 1, read_timer);
}

static bool read_lock(const Reading *reading, json_object *row) {
        RunLock lock = { .held = json_object_get_boolean(cell(row, 1)) };

        if (!get_node(reading, cell(row, 0), &lock.node) || !get_number(cell(row, 2), UINT64_MAX / 2, &lock.since) ||
            run_find_lock(reading->run, lock.node))
                return false;

        lock.since += reading->run->start;
        run_add_lock(reading->run, &lock);
        return true;
}

static bool restore_locks(const Reading *reading, void *member, json_object *json) {
        return each_row(reading, json, 3, 0, read_lock);
}

static bool read_queue(const Reading *reading, json_object *row) {
        json_object *signals = cell(row, 2);
        SignalQueue *queue;
        NodeId node;

        if (!get_node(reading, cell(row, 0), &node) || !run_hears(reading->run, node) ||
            run_queue(reading->run, node) || (cell(row, 1) && !json_object_is_type(cell(row, 1), json_type_object)) ||
            !json_object_is_type(signals, json_type_array))
                return false;

        queue = run_add_queue(reading->run, node, cell(row, 1));
        for (size_t i = 0; i < json_object_array_length(signals); i++)
                if (!run_queue_put(reading->run, node, cell(signals, i)))
                        return false;
        return get_number(cell(row, 3), UINT64_MAX, &queue->missed);
}

static bool restore_queues(const Reading *reading, void *member, json_object *json) {
        return each_row(reading, json, 4, 0, read_queue);
}

static Status get_status(json_object *json, const char *member) {
        const char *text = json_member_text(json, member);

        for (Status status = STATUS_RUNNING; text && status < STATUS_NODE_MAX_; status++)
                if (g_str_equal(status_to_string(status), text))
                        return status;

        return STATUS_IDLE;
}

static bool read_leaf(const Reading *reading, json_object *json) {
        json_object *with = json_member(json, "with", json_type_object),
                    *without = json_member(json, "without", json_type_array);
        Run *run = reading->run;
        Status status = get_status(json, "status");
        uint64_t attempt, since, suspended;
        g_autoptr(json_object) noted = NULL;
        RunLeaf *leaf;
        Cause *cause;
        NodeId node;

        if (!get_node(reading, json_member(json, "node", json_type_int), &node) || status == STATUS_IDLE ||
            !(reading->tree->nodes[node].flags & NODE_LEAF) || run_leaf(run, node) ||
            !get_number(json_member(json, "attempt", json_type_int), UINT32_MAX, &attempt) ||
            !get_number(json_member(json, "since", json_type_int), LEAF_SINCE_MAX, &since) ||
            !get_number(json_member(json, "suspended", json_type_int), ENTRY_TIME_MAX, &suspended) ||
            !get_cause(reading, json, "cause", &cause))
                return false;

        if (status == STATUS_ERROR && cause)
                run_note_broken(run, node, cause);
        /* The values are the current ones, except those in with, and those that were not set. */
        noted = definition_note_variables(run->definition, node, variables_scope(run->variables, node));
        if (noted && with) {
                json_object_object_foreach(with, name, value)
                        json_object_object_add(noted, name, json_object_get(value));
        }
        for (size_t i = 0; noted && without && i < json_object_array_length(without); i++)
                if (json_object_is_type(cell(without, i), json_type_string))
                        json_object_object_del(noted, json_object_get_string(cell(without, i)));

        leaf = run_add_leaf(run, node, (uint32_t) attempt, noted);
        run_leaf_set(leaf, status, cause);
        leaf->since = since + run->start;
        leaf->suspended = suspended;
        leaf->known = flag(json, "known");
        leaf->counts = get_status(json, "counts");
        leaf->halted = flag(json, "halted");
        leaf->has_memo = flag(json, "remembers");
        leaf->memo = json_object_get(json_member(json, "memory", json_type_object));
        return true;
}

static bool restore_skips(const Reading *reading, void *member, json_object *json) {
        if (!json_object_is_type(json, json_type_array))
                return false;

        for (size_t i = 0; i < json_object_array_length(json); i++) {
                NodeId node;

                if (!get_node(reading, cell(json, i), &node) || node == 0)
                        return false;
                run_put_skip(reading->run, node);
        }

        return true;
}

static bool restore_counts(const Reading *reading, void *member, json_object *json) {
        uint64_t *counts = member;

        if (!json_object_is_type(json, json_type_array) || json_object_array_length(json) != N_COUNTS)
                return false;

        for (size_t i = 0; i < N_COUNTS; i++)
                if (!get_number(cell(json, i), UINT64_MAX, &counts[i]))
                        return false;

        return true;
}

static bool restore_history(const Reading *reading, void *member, json_object *json) {
        return each_row(reading, json_member(json, "nodes", json_type_array), 5, 0, read_node_history) &&
               each_row(reading, json_member(json, "failed", json_type_array), 2, 0, read_failed);
}

static bool restore_variables(const Reading *reading, void *member, json_object *json) {
        Cause *error;

        return get_cause(reading, json, "error", &error) && variables_restore(reading->run->variables, json, error);
}

/* Comes after the variables, because leaves refer to them. */
static bool restore_machine(const Reading *reading, void *member, json_object *json) {
        json_object *leaves = json_member(json, "leaves", json_type_array);
        const char *random = json_member_text(json, "random"), *error = json_member_text(json, "error");
        uint64_t attention, unprompted, error_node = NODE_NONE;
        guint64 number;

        if (!leaves || !random || !g_ascii_string_to_unsigned(random, 16, 0, UINT64_MAX, &number, NULL) ||
            !get_number(json_member(json, "attention", json_type_int), UINT32_MAX, &attention) ||
            !get_number(json_member(json, "unprompted", json_type_int), UINT32_MAX, &unprompted) ||
            (error && !get_number(json_member(json, "error_node", json_type_int), UINT32_MAX, &error_node)))
                return false;

        if (!machine_restore(reading->run->machine,
                             &(MachineImage){
                                     .random = number,
                                     .attention = (uint32_t) attention,
                                     .unprompted = (uint32_t) unprompted,
                                     .error = error ? g_intern_string(error) : NULL,
                                     .error_node = (NodeId) error_node,
                             }) ||
            !each_row(reading, json_member(json, "nodes", json_type_array), NODE_IMAGE_NUMBERS + 1, 0, read_node))
                return false;

        for (size_t i = 0; i < json_object_array_length(leaves); i++)
                if (!read_leaf(reading, cell(leaves, i)))
                        return false;

        return true;
}

/* All members of a run, so that none can be forgotten. SAVED: a snapshot has it, under its name and in this format;
 * in the order in which it is restored. NOT: it follows from the others; or it was given at the start, and is in the
 * header; or it belongs to one input, and is empty between two; or it is of a live run only. */
#define RUN_MEMBERS(SAVED, NOT)                                                                                        \
        SAVED(halting, flag)                                                                                           \
        SAVED(paused, flag)                                                                                            \
        SAVED(first_evaluation, flag)                                                                                  \
        SAVED(suspended, number)                                                                                       \
        SAVED(ready, time)                                                                                             \
        SAVED(counts, counts)                                                                                          \
        SAVED(breakpoints, node_set)                                                                                   \
        SAVED(stops, node_set)                                                                                         \
        SAVED(history, history)                                                                                        \
        SAVED(why, cause)                                                                                              \
        SAVED(cause, cause)                                                                                            \
        SAVED(last_evaluation, cause)                                                                                  \
        SAVED(forced, forced)                                                                                          \
        SAVED(variables, variables)                                                                                    \
        SAVED(machine, machine)                                                                                        \
        SAVED(timers, timers)                                                                                          \
        SAVED(locks, locks)                                                                                            \
        SAVED(queues, queues)                                                                                          \
        SAVED(n_events, number)                                                                                        \
        SAVED(skips, skips)                                                                                            \
        /* Follow from others */                                                                                       \
        NOT(broken)                                                                                                    \
        NOT(status)                                                                                                    \
        NOT(definition)                                                                                                \
        NOT(replay)                                                                                                    \
        /* Given at the start */                                                                                       \
        NOT(tree)                                                                                                      \
        NOT(given)                                                                                                     \
        NOT(starter)                                                                                                   \
        NOT(seed)                                                                                                      \
        NOT(started)                                                                                                   \
        NOT(start)                                                                                                     \
        NOT(token)                                                                                                     \
        NOT(caller)                                                                                                    \
        /* These belong to one input */                                                                                \
        NOT(input)                                                                                                     \
        NOT(now)                                                                                                       \
        NOT(refused)                                                                                                   \
        NOT(work)                                                                                                      \
        NOT(n_evaluations)                                                                                             \
        NOT(evaluated)                                                                                                 \
        NOT(computing)                                                                                                 \
        NOT(acting)                                                                                                    \
        NOT(moved)                                                                                                     \
        /* Observers */                                                                                                \
        NOT(n_sets_told)                                                                                               \
        NOT(observer)                                                                                                  \
        NOT(observer_userdata)                                                                                         \
        NOT(events)                                                                                                    \
        /* Only a live run has these */                                                                                \
        NOT(host)                                                                                                      \
        NOT(host_userdata)                                                                                             \
        NOT(writer)                                                                                                    \
        NOT(ready_reported)                                                                                            \
        NOT(durable)                                                                                                   \
        NOT(ends_with_btd)                                                                                             \
        NOT(in_doubt)                                                                                                  \
        NOT(unprompted)                                                                                                \
        NOT(services)                                                                                                  \
        NOT(turn)                                                                                                      \
        NOT(callbacks)                                                                                                 \
        NOT(callbacks_userdata)                                                                                        \
        NOT(node_locks)                                                                                                \
        NOT(kept)                                                                                                      \
        NOT(seen)                                                                                                      \
        NOT(later)                                                                                                     \
        NOT(past)                                                                                                      \
        NOT(not_durable)

#define PLUS_SIZE(member, ...) +sizeof(((Run *) NULL)->member)

/* With pointers of 4 bytes, the struct has padding, so the sizes do not add up to its own. */
static_assert(sizeof(void *) < 8 || RUN_MEMBERS(PLUS_SIZE, PLUS_SIZE) == offsetof(Run, names),
              "a member of Run is missing in RUN_MEMBERS, or there is padding between its members");

#define ROW(member, format) { #member, offsetof(Run, member), save_##format, restore_##format },
#define NO_ROW(member)

static const struct {
        const char *name;
        size_t offset;
        json_object *(*save)(const Run *run, const void *member, CausePool *pool);
        bool (*restore)(const Reading *reading, void *member, json_object *json);
} members[] = { RUN_MEMBERS(ROW, NO_ROW) };

json_object *snapshot_of(const Run *run) {
        g_autoptr(CausePool) pool = cause_pool_new();
        json_object *json = json_object_new_object();

        for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
                json_object_object_add(json, members[i].name,
                                       members[i].save(run, (const char *) run + members[i].offset, pool));
        json_object_object_add(json, "causes", cause_pool_to_json(pool));
        json_object_object_add(json, "engine", json_object_new_int64(engine_version()));
        return json;
}

bool snapshot_restore(Run *run, json_object *snapshot, uint64_t now) {
        g_autoptr(CausePool) pool = cause_pool_from_json(json_member(snapshot, "causes", json_type_array));
        const Reading reading = { .run = run, .tree = definition_tree(run->definition), .pool = pool };

        run->now = now;
        if (!pool)
                return false;
        PTRS_FOREACH(const Cause, cause, cause_pool_causes(pool))
                if (!cause_fits(&reading, cause))
                        return false;

        for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
                json_object *json = NULL;

                if (!json_object_object_get_ex(snapshot, members[i].name, &json) ||
                    !members[i].restore(&reading, (char *) run + members[i].offset, json))
                        return false;
        }

        /* Only a run that is halting has a cause. */
        if (!run->halting && (run->why || run->cause))
                return false;

        for (NodeId node = 0; node < reading.tree->n_nodes; node++) {
                const RunLeaf *leaf = run_leaf(run, node);
                const NodeHostImage host = {
                        .leaf = leaf,
                        .ended = leaf && leaf->status != STATUS_RUNNING,
                        .lock = run_find_lock(run, node),
                        .forced = causes_get(&run->forced, node),
                };

                if (!machine_node_fits(run->machine, node, &host))
                        return false;
        }

        run_tell_restored(run);
        return true;
}
