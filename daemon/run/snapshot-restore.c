/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Restores a run from a snapshot. Everything in it is checked first, so that an invalid snapshot is refused and does no
 * harm. */

#include <json-c/linkhash.h>

#include "basic/cause-pool.h"
#include "basic/cleanup.h"
#include "engine/machine-image.h"
#include "run/progress-state.h"
#include "run/snapshot.h"

/* The numbers in version 2. Numbers that were added to NodeImage later are at its end, and are 0 if an older daemon did
 * not write them. */
#define NODE_NUMBERS_LEAST 11u

typedef struct Reading {
        Progress *progress;
        const Tree *tree;
        CausePool *pool;
        SnapshotLeaf make_leaf;
        void *userdata;
} Reading;

/* The member if it has this type, or NULL. */
static json_object *member(json_object *json, const char *name, json_type type) {
        json_object *value = NULL;

        json_object_object_get_ex(json, name, &value);
        return json_object_is_type(value, type) ? value : NULL;
}

static bool flag(json_object *json, const char *name) {
        return json_object_get_boolean(member(json, name, json_type_boolean));
}

static bool get_number(json_object *value, uint64_t max, uint64_t *ret_number) {
        uint64_t number = json_object_get_uint64(value);

        if (!json_object_is_type(value, json_type_int) || number > max)
                return false;

        *ret_number = number;
        return true;
}

static bool get_node(const Reading *reading, json_object *value, NodeId *ret_node) {
        uint64_t node;

        if (!get_number(value, reading->tree->n_nodes - 1, &node))
                return false;

        *ret_node = (NodeId) node;
        return true;
}

/* Calls read for each row of an array of arrays, whose lengths must be between the limits. */
static bool each_row_between(const Reading *reading, json_object *rows, size_t least, size_t most,
                             bool (*read)(const Reading *reading, json_object *row)) {
        if (!rows)
                return false;

        for (size_t i = 0; i < json_object_array_length(rows); i++) {
                json_object *row = json_object_array_get_idx(rows, i);

                if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) < least ||
                    json_object_array_length(row) > most || !read(reading, row))
                        return false;
        }

        return true;
}

static bool each_row(const Reading *reading, json_object *rows, size_t length,
                     bool (*read)(const Reading *reading, json_object *row)) {
        return each_row_between(reading, rows, length, length, read);
}

static json_object *cell(json_object *row, size_t i) {
        return json_object_array_get_idx(row, i);
}

/* The cause below must come from a node below. */
static bool cause_fits(const Reading *reading, const Cause *cause) {
        const Cause *because = cause->because;

        if (cause->node != NODE_NONE && cause->node >= reading->tree->n_nodes)
                return false;
        if (!because)
                return cause->text;

        return because->node < reading->tree->n_nodes &&
               (cause->node == NODE_NONE ||
                (because->node >= cause->node && because->node < reading->tree->nodes[cause->node].end));
}

static bool read_pool(Reading *reading, json_object *json) {
        const GPtrArray *causes;

        reading->pool = cause_pool_from_json(member(json, "causes", json_type_array));
        if (!reading->pool)
                return false;

        causes = cause_pool_causes(reading->pool);
        for (unsigned i = 0; i < causes->len; i++)
                if (!cause_fits(reading, causes->pdata[i]))
                        return false;

        return true;
}

/* Borrowed. */
static bool get_cause(const Reading *reading, json_object *json, const char *name, Cause **ret_cause) {
        json_object *place = NULL;

        return json_object_object_get_ex(json, name, &place) && cause_pool_get(reading->pool, place, ret_cause);
}

static bool read_machine(const Reading *reading, json_object *json) {
        const char *random = json_object_get_string(member(json, "random", json_type_string)),
                   *error = json_object_get_string(member(json, "error", json_type_string));
        uint64_t attention, unprompted, error_node = NODE_NONE;
        guint64 number;

        if (!random || !g_ascii_string_to_unsigned(random, 16, 0, UINT64_MAX, &number, NULL) ||
            !get_number(member(json, "attention", json_type_int), UINT32_MAX, &attention) ||
            !get_number(member(json, "unprompted", json_type_int), UINT32_MAX, &unprompted) ||
            (error && !get_number(member(json, "error_node", json_type_int), UINT32_MAX, &error_node)))
                return false;

        return machine_restore(reading->progress->machine, &(MachineImage){
                                                                   .random = number,
                                                                   .attention = (uint32_t) attention,
                                                                   .unprompted = (uint32_t) unprompted,
                                                                   .error = error ? g_intern_string(error) : NULL,
                                                                   .error_node = (NodeId) error_node,
                                                           });
}

static bool read_node(const Reading *reading, json_object *row) {
        uint32_t numbers[NODE_IMAGE_NUMBERS] = {};
        NodeImage before;
        NodeId node;

        if (!get_node(reading, cell(row, 0), &node) || machine_node_image(reading->progress->machine, node, &before))
                return false;

        for (size_t i = 0; i + 1 < json_object_array_length(row); i++) {
                uint64_t number;

                if (!get_number(cell(row, i + 1), UINT32_MAX, &number))
                        return false;
                numbers[i] = (uint32_t) number;
        }

        return machine_restore_node(reading->progress->machine, node, (const NodeImage *) (const void *) numbers);
}

static bool read_history(const Reading *reading, json_object *row) {
        uint64_t status, count;
        HistoryImage image;
        NodeId node;

        if (!get_node(reading, cell(row, 0), &node) || !get_number(cell(row, 1), UINT64_MAX, &image.since) ||
            !get_number(cell(row, 2), UINT64_MAX, &image.duration) || !get_number(cell(row, 3), UINT32_MAX, &status) ||
            !get_number(cell(row, 4), UINT32_MAX, &count))
                return false;

        image.status = (uint32_t) status;
        image.count = (uint32_t) count;
        return history_restore(reading->progress->history, node, &image);
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
        return set_cause(reading, history_causes(reading->progress->history), row);
}

static bool read_forced(const Reading *reading, json_object *row) {
        return set_cause(reading, &reading->progress->forced, row);
}

static bool read_timer(const Reading *reading, json_object *row) {
        Progress *progress = reading->progress;
        NodeId node = NODE_NONE;
        uint64_t span, left;
        NodeTimer *timer;

        if ((cell(row, 0) && !get_node(reading, cell(row, 0), &node)) || !get_number(cell(row, 1), UINT64_MAX, &span) ||
            !get_number(cell(row, 2), UINT64_MAX, &left))
                return false;

        timer = g_new(NodeTimer, 1);
        *timer = (NodeTimer){
                .span = span,
                .deadline = left < UINT64_MAX - progress->start ? progress->start + left : UINT64_MAX,
                .armed = json_object_get_boolean(cell(row, 3)),
        };
        progress_put_timer(progress, node, timer);
        return true;
}

static bool read_lock(const Reading *reading, json_object *row) {
        ProgressLock lock = { .held = json_object_get_boolean(cell(row, 1)) };

        if (!get_node(reading, cell(row, 0), &lock.node) || !get_number(cell(row, 2), UINT64_MAX / 2, &lock.since) ||
            progress_find_lock(reading->progress, lock.node))
                return false;

        lock.since += reading->progress->start;
        progress_add_lock(reading->progress, &lock);
        return true;
}

static bool read_nodes(const Reading *reading, json_object *json, GArray **ret_nodes) {
        if (!json)
                return false;

        for (size_t i = 0; i < json_object_array_length(json); i++) {
                NodeId node;

                if (!get_node(reading, cell(json, i), &node))
                        return false;
                *ret_nodes = *ret_nodes ?: g_array_new(FALSE, FALSE, sizeof(NodeId));
                g_array_append_val(*ret_nodes, node);
        }

        return true;
}

static Status get_status(json_object *json) {
        const char *text = json_object_get_string(member(json, "status", json_type_string));

        for (Status status = STATUS_RUNNING; text && status < STATUS_MAX_; status++)
                if (g_str_equal(status_to_string(status), text))
                        return status;

        return STATUS_IDLE;
}

/* The values are the current ones, except those in with (or NULL). Older daemons did not write with, so this is an
 * assumption for their snapshots. */
static json_object *noted_of(const Reading *reading, NodeId node, json_object *with) {
        json_object *noted = definition_note_variables(reading->progress->definition, node,
                                                       variables_scope(reading->progress->variables, node));

        if (noted && with) {
                json_object_object_foreach(with, name, value) {
                        json_object_object_add(noted, name, json_object_get(value));
                }
        }

        return noted;
}

/* 0 if there is no such member. */
static bool read_suspended(json_object *json, const char *name, uint64_t *ret_suspended) {
        json_object *value = NULL;

        *ret_suspended = 0;
        return !json_object_object_get_ex(json, name, &value) || get_number(value, RECORD_TIME_MAX, ret_suspended);
}

static bool read_leaf(const Reading *reading, json_object *json) {
        LeafReport report = {
                .begun = flag(json, "begun"),
                .halted = flag(json, "halted"),
                .remembers = flag(json, "remembers"),
                .memory = member(json, "memory", json_type_object),
        };
        Status status = get_status(json);
        g_autoptr(json_object) noted = NULL;
        uint64_t attempt;
        Cause *cause;
        NodeId node;
        void *leaf;

        if (!get_node(reading, member(json, "node", json_type_int), &node) || status == STATUS_IDLE ||
            !(reading->tree->nodes[node].flags & NODE_LEAF) || progress_leaf(reading->progress, node) ||
            !get_number(member(json, "attempt", json_type_int), UINT32_MAX, &attempt) ||
            !get_number(member(json, "since", json_type_int), UINT64_MAX / 2, &report.since) ||
            !read_suspended(json, "suspended", &report.suspended) || !get_cause(reading, json, "cause", &cause))
                return false;

        if (status == STATUS_ERROR && cause)
                progress_note_broken(reading->progress, node, cause);
        report.attempt = (uint32_t) attempt;
        report.since += reading->progress->start;
        report.noted = noted = noted_of(reading, node, member(json, "with", json_type_object));
        leaf = reading->make_leaf(node, status, cause, &report, reading->userdata);
        machine_node_set_data(reading->progress->machine, node, leaf);
        if (reading->tree->nodes[node].type->class == NODE_CONDITION)
                progress_put_value(reading->progress, node, status, cause);
        return leaf;
}

static bool forced_fits(const Reading *reading, NodeId node) {
        NodeImage image;

        return !machine_node_image(reading->progress->machine, node, &image) || image.forced == STATUS_IDLE ||
               causes_get(&reading->progress->forced, node);
}

/* Checks that the machine and the host agree about the leaf. */
static bool leaf_fits(const Reading *reading, NodeId node) {
        const Machine *machine = reading->progress->machine;
        void *leaf = progress_leaf(reading->progress, node);
        Status status = leaf ? reading->progress->host->leaf_status(leaf) : STATUS_IDLE;

        if (reading->tree->nodes[node].type->class != NODE_ACTION)
                return true;
        if (!machine_action_is_due(machine, node))
                return !leaf;

        return leaf && (status != STATUS_RUNNING) == machine_action_has_ended(machine, node);
}

static bool nodes_fit(const Reading *reading) {
        for (NodeId node = 0; node < reading->tree->n_nodes; node++)
                if (!machine_node_fits(reading->progress->machine, node) || !leaf_fits(reading, node) ||
                    !forced_fits(reading, node))
                        return false;

        return true;
}

static bool read_leaves(const Reading *reading, json_object *leaves) {
        if (!leaves)
                return false;

        for (size_t i = 0; i < json_object_array_length(leaves); i++)
                if (!read_leaf(reading, cell(leaves, i)))
                        return false;

        return true;
}

static bool read_causes(const Reading *reading, json_object *json) {
        Progress *progress = reading->progress;
        Cause *why, *cause, *last_evaluation, *error;

        if (!get_cause(reading, json, "why", &why) || !get_cause(reading, json, "cause", &cause) ||
            !get_cause(reading, json, "last_look", &last_evaluation) || !get_cause(reading, json, "error", &error) ||
            !each_row(reading, member(json, "failed", json_type_array), 2, read_failed) ||
            !each_row(reading, member(json, "forced", json_type_array), 2, read_forced))
                return false;

        progress->why = why ? cause_ref(why) : NULL;
        progress->cause = cause ? cause_ref(cause) : NULL;
        progress->last_evaluation = last_evaluation ? cause_ref(last_evaluation) : NULL;
        return variables_restore(progress->variables, member(json, "variables", json_type_object), error);
}

static bool read_timers_suspended(const Reading *reading, json_object *json) {
        GHashTableIter iter;
        void *node, *timer;

        if (!json || !reading->progress->timers)
                return true;

        g_hash_table_iter_init(&iter, reading->progress->timers);
        while (g_hash_table_iter_next(&iter, &node, &timer)) {
                char key[16];

                g_snprintf(key, sizeof(key), "%u", GPOINTER_TO_UINT(node));
                if (!read_suspended(json, key, &((NodeTimer *) timer)->suspended))
                        return false;
        }

        return true;
}

/* If there is no such member, the run is not ready. */
static bool read_ready(const Reading *reading, json_object *json) {
        json_object *ready = NULL;
        uint64_t time;

        if (!json_object_object_get_ex(json, "ready", &ready))
                return true;
        if (!get_number(ready, RECORD_TIME_MAX, &time))
                return false;

        reading->progress->ready = reading->progress->start + time;
        return true;
}

static bool read_all(Reading *reading, json_object *json) {
        Progress *progress = reading->progress;

        progress->halting = flag(json, "halting");
        progress->paused = flag(json, "paused");
        progress->first_evaluation = flag(json, "first_look");
        return read_ready(reading, json) && read_pool(reading, json) &&
               read_nodes(reading, member(json, "breakpoints", json_type_array), &progress->breakpoints) &&
               read_nodes(reading, member(json, "stops", json_type_array), &progress->stops) &&
               read_machine(reading, member(json, "machine", json_type_object)) &&
               each_row_between(reading, member(json, "nodes", json_type_array), NODE_NUMBERS_LEAST + 1,
                                NODE_IMAGE_NUMBERS + 1, read_node) &&
               each_row(reading, member(json, "history", json_type_array), 5, read_history) &&
               read_causes(reading, json) &&
               each_row(reading, member(json, "timers", json_type_array), 4, read_timer) &&
               read_suspended(json, "suspended", &progress->suspended) &&
               read_timers_suspended(reading, member(json, "timers_suspended", json_type_object)) &&
               each_row(reading, member(json, "locks", json_type_array), 3, read_lock) &&
               read_leaves(reading, member(json, "leaves", json_type_array)) && nodes_fit(reading);
}

bool snapshot_restore(Progress *progress, json_object *snapshot, uint64_t now, SnapshotLeaf make_leaf, void *userdata) {
        Reading reading = {
                .progress = progress,
                .tree = definition_tree(progress->definition),
                .make_leaf = make_leaf,
                .userdata = userdata,
        };
        bool fine;

        progress->now = now;
        fine = read_all(&reading, snapshot);
        cause_pool_free(reading.pool);
        return fine;
}
