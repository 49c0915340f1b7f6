/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The records are kept from the order in which the machine tells of changes: a child always completes before its
 * parent does, so when a parent fails, the child that decided it is the one that has failed last. Only what is run
 * because of a failure is no reason for it.
 */

#include "definition/history.h"
#include <assert.h>
#include <inttypes.h>

typedef struct Record {
        uint64_t since : 48; /* microseconds since the run's start, plus one: 0 is never */
        uint64_t status : 3;
        uint64_t changed : 1; /* is in the list of changes */
        uint64_t duration : 48;
        uint64_t count : 16; /* a leaf's starts; the completions of a decorator's child since it was started */
} Record;

G_STATIC_ASSERT(sizeof(Record) == 16);
G_STATIC_ASSERT(STATUS_MAX_ <= 8);

#define TIME_MAX ((UINT64_C(1) << 48) - 1)
/* Much of a large tree may never run. */
#define BLOCK 16u

struct History {
        const Tree *tree;
        uint64_t start;
        Causes *causes;
        GArray *changes;  /* NULL while nobody watches */
        Record *blocks[]; /* of BLOCK nodes each; NULL until there is something to tell of one of them */
};

static uint32_t count_blocks(const Tree *tree) {
        return (tree->n_nodes + BLOCK - 1) / BLOCK;
}

History *history_new(const Tree *tree, uint64_t start) {
        History *history = g_malloc0(sizeof(History) + count_blocks(tree) * sizeof(Record *));

        history->tree = tree;
        history->start = start;
        history->causes = causes_new(tree);
        return history;
}

void history_free(History *history) {
        if (!history)
                return;

        if (history->changes)
                g_array_unref(history->changes);
        causes_free(history->causes);
        for (uint32_t i = 0; i < count_blocks(history->tree); i++)
                g_free(history->blocks[i]);
        g_free(history);
}

static const Record *record_of(const History *history, NodeId node) {
        static const Record nothing;
        const Record *block = history->blocks[node / BLOCK];

        return block ? &block[node % BLOCK] : &nothing;
}

static Record *record_to_change(History *history, NodeId node) {
        Record **block = &history->blocks[node / BLOCK];

        if (!*block)
                *block = g_new0(Record, BLOCK);

        return &(*block)[node % BLOCK];
}

/* Has the child come to the status in this activation of the node? */
static bool has_come_to(const History *history, NodeId node, NodeId child, Status status) {
        const Record *record = record_of(history, child);

        return record->status == status && record->since + record->duration >= record_of(history, node)->since;
}

/* The one that has come to it last, or first where that is what counts. */
static NodeId deciding_child(const History *history, NodeId node, Status status) {
        const Node *nodes = history->tree->nodes;
        uint64_t last_serial = 0;
        NodeId last = NODE_NONE;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
                uint64_t serial = causes_serial(history->causes, child);

                if (serial <= last_serial || !has_come_to(history, node, child, status))
                        continue;
                if (nodes[node].type->flags & TYPE_FIRST_FAILURE)
                        return child;

                last = child;
                last_serial = serial;
        }

        return last;
}

static Cause *attempts_cause(const History *history, NodeId node, const Cause *below) {
        uint32_t n = history_rounds(history, node);
        g_autofree char *text = below ? g_strdup_printf("failed %" PRIu32 " time%s", n, n == 1 ? "" : "s")
                                      : g_strdup("no attempts are left");

        return cause_new(CAUSE_ATTEMPTS, facts_new("attempts", json_object_new_int64(n), NULL), text);
}

static uint32_t count_children(const History *history, NodeId node, Status status) {
        const Node *nodes = history->tree->nodes;
        uint32_t n = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                n += has_come_to(history, node, child, status);

        return n;
}

static Cause *threshold_cause(const History *history, NodeId node) {
        uint32_t n = history->tree->nodes[node].n_children, n_failed = count_children(history, node, STATUS_FAILURE),
                 n_succeeded = count_children(history, node, STATUS_SUCCESS);
        g_autofree char *text = n_failed > 0
                                        ? g_strdup_printf("%" PRIu32 " of its %" PRIu32 " children failed", n_failed, n)
                                        : g_strdup("not enough of its children succeeded");

        return cause_new(CAUSE_THRESHOLD,
                         facts_new("children", json_object_new_int64(n), "failed", json_object_new_int64(n_failed),
                                   "succeeded", json_object_new_int64(n_succeeded), NULL),
                         text);
}

/* Of a node to which nothing was handed up. */
static Cause *lone_cause(const History *history, NodeId node, Status status) {
        g_autofree char *text = NULL;

        if (status == STATUS_FAILURE && history->tree->nodes[node].type->class == NODE_DECORATOR &&
            record_of(history, node + 1)->status == STATUS_SUCCESS)
                text = g_strdup_printf("%s succeeded", tree_node_name(history->tree, node + 1));

        return cause_new(CAUSE_FAILED, NULL, text ?: status == STATUS_SKIPPED ? "skipped" : "failed");
}

/* What the node adds to the cause of the child that decided, if there is one. */
static Cause *inner_cause(const History *history, NodeId node, Status status, Reason reason, const Cause *below) {
        if (reason == REASON_ATTEMPTS)
                return attempts_cause(history, node, below);
        if (reason == REASON_THRESHOLD && status == STATUS_FAILURE)
                return threshold_cause(history, node);

        return below ? cause_new(CAUSE_CHILD, NULL, NULL) : lone_cause(history, node, status);
}

static void explain(History *history, NodeId node, Status status, Reason reason) {
        NodeId child = deciding_child(history, node, status);
        Cause *below = child == NODE_NONE ? NULL : causes_get(history->causes, child);
        Cause *cause = inner_cause(history, node, status, reason, below);

        cause->because = below ? cause_ref(below) : NULL;
        causes_set(history->causes, node, cause);
}

/* What a WaitFor has waited for, and what came before a clean-up that was cut off, is worth knowing. */
static Cause *add_last_failure(const History *history, NodeId node, Cause *cause) {
        NodeId child = deciding_child(history, node, STATUS_FAILURE);

        if (child != NODE_NONE)
                cause->because = cause_ref(causes_get(history->causes, child));

        return cause;
}

static void note_change(History *history, NodeId node) {
        Record *record = record_to_change(history, node);

        if (!history->changes || record->changed)
                return;

        record->changed = true;
        g_array_append_val(history->changes, node);
}

static void count_round(History *history, NodeId node) {
        NodeId parent = history->tree->nodes[node].parent;
        Record *record;

        if (parent == NODE_NONE || history->tree->nodes[parent].type->class != NODE_DECORATOR)
                return;

        record = record_to_change(history, parent);
        if (record->count < UINT16_MAX)
                record->count++;
}

static void begin(History *history, NodeId node, uint64_t time) {
        Record *record = record_to_change(history, node);

        record->since = time;
        if (!(history->tree->nodes[node].flags & NODE_LEAF))
                record->count = 0;
}

static void set_status(History *history, NodeId node, Status status, uint64_t now) {
        Record *record = record_to_change(history, node);
        uint64_t time = MIN(now - history->start + 1, TIME_MAX);

        assert(status != STATUS_IDLE && now >= history->start);

        if (record->status != STATUS_RUNNING)
                begin(history, node, time);
        record->duration = time - record->since;
        record->status = status;
        note_change(history, node);
}

void history_record(History *history, NodeId node, Status status, Reason reason, Cause *cause, uint64_t now) {
        Status before = record_of(history, node)->status;

        if (before == STATUS_ERROR || (status == STATUS_RUNNING && before == STATUS_RUNNING)) {
                cause_unref(cause);
                return;
        }

        set_status(history, node, status, now);
        if (cause)
                causes_set(history->causes, node,
                           reason == REASON_TIMEOUT ? add_last_failure(history, node, cause) : cause);
        else if (status == STATUS_FAILURE || status == STATUS_SKIPPED)
                explain(history, node, status, reason);
        else if (status == STATUS_SUCCESS)
                causes_drop(history->causes, node);

        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                count_round(history, node);
}

void history_repeat(History *history, NodeId node, const Cause *cause) {
        Cause *before = history_cause(history, node);

        if (cause && before && !g_str_equal(before->kind, CAUSE_FORCED))
                cause_renew(before, cause);
        count_round(history, node);
}

void history_fail(History *history, NodeId node, Cause *cause, uint64_t now) {
        for (;;) {
                Cause *below = cause;

                set_status(history, node, STATUS_ERROR, now);
                causes_set(history->causes, node, cause);
                node = history->tree->nodes[node].parent;
                if (node == NODE_NONE)
                        return;

                cause = cause_new(CAUSE_CHILD, NULL, NULL);
                cause->because = cause_ref(below);
        }
}

uint32_t history_count_start(History *history, NodeId leaf) {
        Record *record = record_to_change(history, leaf);

        if (++record->count == 0)
                record->count = 1;

        return record->count;
}

uint32_t history_rounds(const History *history, NodeId decorator) {
        return record_of(history, decorator)->count;
}

Status history_status(const History *history, NodeId node) {
        return record_of(history, node)->status;
}

uint64_t history_since(const History *history, NodeId node) {
        const Record *record = record_of(history, node);

        return record->since > 0 ? history->start + record->since - 1 : 0;
}

uint64_t history_duration(const History *history, NodeId node, uint64_t now) {
        return record_of(history, node)->status == STATUS_RUNNING ? now - history_since(history, node)
                                                                  : record_of(history, node)->duration;
}

Cause *history_last_cause(const History *history, NodeId node) {
        return causes_get(history->causes, node);
}

Cause *history_cause(const History *history, NodeId node) {
        Status status = record_of(history, node)->status;

        return status == STATUS_IDLE || status == STATUS_RUNNING || status == STATUS_HALTED
                       ? NULL
                       : history_last_cause(history, node);
}

NodeId history_last_failed(const History *history, NodeId node) {
        return deciding_child(history, node, STATUS_FAILURE);
}

NodeId history_halted_by(const History *history, NodeId node) {
        do
                node = history->tree->nodes[node].parent;
        while (node != NODE_NONE && record_of(history, node)->status == STATUS_HALTED);

        return node;
}

bool history_image(const History *history, NodeId node, HistoryImage *ret_image) {
        const Record *record = record_of(history, node);

        *ret_image = (HistoryImage){
                .since = record->since,
                .duration = record->duration,
                .status = (uint32_t) record->status,
                .count = (uint32_t) record->count,
        };
        return record->since > 0 || record->count > 0;
}

bool history_restore(History *history, NodeId node, const HistoryImage *image) {
        if (image->since > TIME_MAX || image->duration > TIME_MAX || image->status >= STATUS_MAX_ ||
            image->count > UINT16_MAX)
                return false;

        *record_to_change(history, node) = (Record){
                .since = image->since,
                .duration = image->duration,
                .status = image->status,
                .count = image->count,
        };
        return true;
}

Causes *history_causes(const History *history) {
        return history->causes;
}

/* They are in no list any more. */
static void clear_changed(History *history) {
        for (unsigned i = 0; i < history->changes->len; i++)
                record_to_change(history, g_array_index(history->changes, NodeId, i))->changed = false;
}

void history_set_watched(History *history, bool watched) {
        if (watched && !history->changes)
                history->changes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        else if (!watched && history->changes) {
                clear_changed(history);
                g_clear_pointer(&history->changes, g_array_unref);
        }
}

GArray *history_take_changes(History *history) {
        GArray *changes = history->changes;

        if (!changes || changes->len == 0)
                return NULL;

        clear_changed(history);
        history->changes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        return changes;
}
