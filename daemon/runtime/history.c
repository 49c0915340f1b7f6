/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The records are kept from the order in which the machine tells of changes: a child always completes before its
 * parent does, so when a parent fails, the child that decided it is the one that has failed last.
 */

#include <assert.h>
#include <string.h>

#include "runtime/history.h"

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

/* Why a node failed or was skipped. Kept until it succeeds, valid while its status says so. */
typedef struct Cause {
        NodeId origin; /* where the chain begins */
        uint64_t serial;
        char *text; /* a GRefString */
} Cause;

struct History {
        const Tree *tree;
        uint64_t start;
        Record *records;
        GHashTable *causes; /* of node; NULL until something fails */
        uint64_t next_serial;
        GArray *changes; /* NULL while nobody watches */
};

static void cause_free(Cause *cause) {
        g_ref_string_release(cause->text);
        g_free(cause);
}

History *history_new(const Tree *tree, uint64_t start) {
        History *history = g_new0(History, 1);

        history->tree = tree;
        history->start = start;
        history->records = g_new0(Record, tree->n_nodes);
        return history;
}

void history_free(History *history) {
        if (!history)
                return;

        if (history->changes)
                g_array_unref(history->changes);
        if (history->causes)
                g_hash_table_unref(history->causes);
        g_free(history->records);
        g_free(history);
}

static const Cause *cause_of(const History *history, NodeId node) {
        return history->causes ? g_hash_table_lookup(history->causes, GUINT_TO_POINTER(node)) : NULL;
}

/* Takes the text. */
static void set_cause(History *history, NodeId node, NodeId origin, char *text) {
        Cause *cause = g_new(Cause, 1);

        if (!history->causes)
                history->causes = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) cause_free);

        *cause = (Cause){ .origin = origin, .serial = history->next_serial++, .text = text };
        g_hash_table_replace(history->causes, GUINT_TO_POINTER(node), cause);
}

/* The child that has come to the status last, in this activation of the node. */
static NodeId last_child(const History *history, NodeId node, Status status) {
        const Record *records = history->records;
        uint64_t last_serial = 0;
        NodeId last = NODE_NONE;

        for (NodeId child = node + 1; child < history->tree->nodes[node].end; child = history->tree->nodes[child].end) {
                const Cause *cause = cause_of(history, child);

                if (!cause || records[child].status != status ||
                    records[child].since + records[child].duration < records[node].since)
                        continue;

                if (last == NODE_NONE || cause->serial > last_serial) {
                        last = child;
                        last_serial = cause->serial;
                }
        }

        return last;
}

/* For a node that failed although none of its children did. */
static const char *reason_alone(const History *history, NodeId node, Status status, Reason reason) {
        const Node *definition = &history->tree->nodes[node];

        if (reason == REASON_GUARD)
                return status == STATUS_FAILURE ? "its fail_if is true" : "its skip_if is true, or its while is false";
        if (reason == REASON_ATTEMPTS)
                return "no attempts are left";
        if (status == STATUS_SKIPPED)
                return "skipped";
        if (reason == REASON_THRESHOLD)
                return "not enough of its children succeeded";
        if (definition->type->class == NODE_DECORATOR && history->records[node + 1].status == STATUS_SUCCESS)
                return "its child succeeded";
        return "failed";
}

static void explain(History *history, NodeId node, Status status, Reason reason, const char *text) {
        NodeId child;
        const Cause *below;

        if (text) {
                set_cause(history, node, node, g_ref_string_new(text));
                return;
        }

        child = reason == REASON_GUARD ? NODE_NONE : last_child(history, node, status);
        if (child == NODE_NONE) {
                set_cause(history, node, node, g_ref_string_new(reason_alone(history, node, status, reason)));
                return;
        }

        below = cause_of(history, child);
        set_cause(history, node, below->origin, g_ref_string_acquire(below->text));
}

static void note_change(History *history, NodeId node) {
        if (!history->changes || history->records[node].changed)
                return;

        history->records[node].changed = true;
        g_array_append_val(history->changes, node);
}

static void count_round(History *history, NodeId node) {
        NodeId parent = history->tree->nodes[node].parent;
        Record *record;

        if (parent == NODE_NONE || history->tree->nodes[parent].type->class != NODE_DECORATOR)
                return;

        record = &history->records[parent];
        if (record->count < UINT16_MAX)
                record->count++;
}

static void begin(History *history, NodeId node, uint64_t time) {
        Record *record = &history->records[node];

        record->since = time;
        if (!(history->tree->nodes[node].flags & NODE_LEAF))
                record->count = 0;
}

void history_record(History *history, NodeId node, Status status, Reason reason, const char *text, uint64_t now) {
        Record *record = &history->records[node];
        uint64_t time = MIN(now - history->start + 1, TIME_MAX);

        assert(status != STATUS_IDLE && now >= history->start);

        if (status == record->status && status == STATUS_RUNNING)
                return;

        if (record->status != STATUS_RUNNING)
                begin(history, node, time);
        record->duration = time - record->since;
        record->status = status;

        if (status == STATUS_FAILURE || status == STATUS_SKIPPED)
                explain(history, node, status, reason, text);
        else if (status == STATUS_SUCCESS && history->causes)
                g_hash_table_remove(history->causes, GUINT_TO_POINTER(node));

        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                count_round(history, node);
        note_change(history, node);
}

void history_repeat(History *history, NodeId node) {
        count_round(history, node);
}

void history_close(History *history, NodeId error_node, uint64_t now) {
        for (; error_node != NODE_NONE; error_node = history->tree->nodes[error_node].parent)
                history_record(history, error_node, STATUS_ERROR, REASON_NONE, NULL, now);

        for (NodeId node = 0; node < history->tree->n_nodes; node++)
                if (history->records[node].status == STATUS_RUNNING)
                        history_record(history, node, STATUS_HALTED, REASON_NONE, NULL, now);
}

uint32_t history_count_start(History *history, NodeId leaf) {
        Record *record = &history->records[leaf];

        if (++record->count == 0)
                record->count = 1;

        return record->count;
}

uint32_t history_rounds(const History *history, NodeId decorator) {
        return history->records[decorator].count;
}

Status history_status(const History *history, NodeId node) {
        return history->records[node].status;
}

uint64_t history_since(const History *history, NodeId node) {
        const Record *record = &history->records[node];

        return record->since > 0 ? history->start + record->since - 1 : 0;
}

uint64_t history_duration(const History *history, NodeId node, uint64_t now) {
        return history->records[node].status == STATUS_RUNNING ? now - history_since(history, node)
                                                               : history->records[node].duration;
}

static bool has_failed(const History *history, NodeId node) {
        Status status = history->records[node].status;

        return status == STATUS_FAILURE || status == STATUS_SKIPPED;
}

char *history_last_cause(const History *history, NodeId node) {
        const Cause *cause = cause_of(history, node);
        g_autofree char *path = NULL, *prefix = NULL;

        if (!cause)
                return NULL;
        if (cause->origin == node)
                return g_strdup(cause->text);

        path = tree_node_path(history->tree, cause->origin);
        prefix = tree_node_path(history->tree, node);
        return g_strdup_printf("%s: %s", path + strlen(prefix) + 1, cause->text);
}

char *history_cause(const History *history, NodeId node) {
        return has_failed(history, node) ? history_last_cause(history, node) : NULL;
}

char *history_full_cause(const History *history, NodeId node) {
        const Cause *cause = cause_of(history, node);
        g_autofree char *path = NULL;

        if (!cause || !has_failed(history, node))
                return NULL;

        path = tree_node_path(history->tree, cause->origin);
        return g_strdup_printf("%s: %s", path, cause->text);
}

const char *history_own_reason(const History *history, NodeId node) {
        const Cause *cause = cause_of(history, node);

        return cause && cause->origin == node ? cause->text : NULL;
}

/* They are in no list any more. */
static void clear_changed(History *history) {
        for (unsigned i = 0; i < history->changes->len; i++)
                history->records[g_array_index(history->changes, NodeId, i)].changed = false;
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
