/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements node-history.h. It relies on the order in which the machine reports changes: a child always completes
 * before its parent. So when a parent fails, the deciding child is the one that failed last. A child that runs only
 * because of a failure is not its reason.
 */

#include "run/node-history.h"
#include <assert.h>
#include <inttypes.h>

#include "engine/types/types.h"

/* Each node has one, so it is packed. */
typedef struct __attribute__((packed, aligned(2))) Record {
        uint64_t since : 48;    /* microseconds since the run's start, plus one; 0: never */
        uint32_t duration : 27; /* see pack_duration(); of a RUNNING node, the same number as in NodeHistoryImage */
        uint32_t status : 3;
        uint32_t changed : 1; /* it is in the list of changes */
        uint32_t once : 1;    /* the count, if the block has no counts */
} Record;

G_STATIC_ASSERT(sizeof(Record) == 10);
G_STATIC_ASSERT(STATUS_MAX_ <= 8);

#define TIME_MAX ((UINT64_C(1) << 48) - 1)
#define DIGITS 22u
/* Nodes per block. Blocks save memory, since much of a large tree may never run. */
#define BLOCK 64u

/* The counts are the number of starts of a leaf, and of completions of a decorator's child since the decorator was
 * started. */
typedef struct Block {
        uint16_t *counts; /* NULL: none is above 1 */
        Record records[];
} Block;

struct NodeHistory {
        const Tree *tree;
        uint64_t start;
        Causes causes;
        GArray *changes; /* NULL while it is not watched */
        Block *blocks[]; /* of BLOCK nodes each; NULL until one of them has a state */
};

static uint32_t count_blocks(const Tree *tree) {
        return (tree->n_nodes + BLOCK - 1) / BLOCK;
}

NodeHistory *node_history_new(const Tree *tree, uint64_t start) {
        NodeHistory *history = g_malloc0(sizeof(NodeHistory) + count_blocks(tree) * sizeof(Block *));

        history->tree = tree;
        history->start = start;
        return history;
}

void node_history_free(NodeHistory *history) {
        if (!history)
                return;

        if (history->changes)
                g_array_unref(history->changes);
        causes_clear(&history->causes);
        for (uint32_t i = 0; i < count_blocks(history->tree); i++) {
                if (history->blocks[i])
                        g_free(history->blocks[i]->counts);
                g_free(history->blocks[i]);
        }
        g_free(history);
}

/* Packs a number of 22 bits and how often it is to be doubled: exact up to 4 s, and to the sixth digit above. It is
 * rounded down, so that a node never seems to end later than it did. */
static uint32_t pack_duration(uint64_t duration) {
        uint32_t doublings = 0;

        while (duration >> doublings >> DIGITS != 0)
                doublings++;

        return doublings << DIGITS | (uint32_t) (duration >> doublings);
}

static uint64_t duration_of(const Record *record) {
        uint32_t digits = record->duration & ((1u << DIGITS) - 1);

        return (uint64_t) digits << (record->duration >> DIGITS);
}

static const Record *record_of(const NodeHistory *history, NodeId node) {
        static const Record nothing;
        const Block *block = history->blocks[node / BLOCK];

        return block ? &block->records[node % BLOCK] : &nothing;
}

/* The last block has only as many states as there are nodes left. */
static uint32_t block_size(const NodeHistory *history, NodeId node) {
        return MIN(BLOCK, history->tree->n_nodes - node / BLOCK * BLOCK);
}

static Block *block_to_change(NodeHistory *history, NodeId node) {
        Block **block = &history->blocks[node / BLOCK];

        if (!*block)
                *block = g_malloc0(sizeof(Block) + block_size(history, node) * sizeof(Record));

        return *block;
}

static Record *record_to_change(NodeHistory *history, NodeId node) {
        return &block_to_change(history, node)->records[node % BLOCK];
}

static uint32_t count_of(const NodeHistory *history, NodeId node) {
        const Block *block = history->blocks[node / BLOCK];

        return block && block->counts ? block->counts[node % BLOCK] : record_of(history, node)->once;
}

static void set_count(NodeHistory *history, NodeId node, uint32_t count) {
        Block *block = block_to_change(history, node);

        if (!block->counts && count > 1) {
                uint32_t n = block_size(history, node);

                block->counts = g_new(uint16_t, n);
                for (uint32_t i = 0; i < n; i++)
                        block->counts[i] = (uint16_t) block->records[i].once;
        }

        if (block->counts)
                block->counts[node % BLOCK] = (uint16_t) count;
        else
                block->records[node % BLOCK].once = count;
}

static bool may_fail(const NodeHistory *history, NodeId node) {
        return history->tree->nodes[node].flags & NODE_MAY_FAIL;
}

/* An allowed failure is a success for the node. */
bool node_history_has_reached(const NodeHistory *history, NodeId node, NodeId child, Status status) {
        const Record *record = record_of(history, child);
        Status seen = record->status == STATUS_FAILURE && may_fail(history, child) ? STATUS_SUCCESS : record->status;

        return seen == status && record->since + duration_of(record) >= record_of(history, node)->since;
}

NodeId node_history_deciding_child(const NodeHistory *history, NodeId node, Status status) {
        const Node *nodes = history->tree->nodes;
        uint64_t last_serial = 0;
        NodeId last = NODE_NONE;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end) {
                uint64_t serial = causes_serial(&history->causes, child);

                if (serial <= last_serial || !node_history_has_reached(history, node, child, status))
                        continue;
                if (nodes[node].type->flags & TYPE_FIRST_FAILURE)
                        return child;

                last = child;
                last_serial = serial;
        }

        return last;
}

static uint32_t count_children(const NodeHistory *history, NodeId node, Status status) {
        const Node *nodes = history->tree->nodes;
        uint32_t n = 0;

        for (NodeId child = node + 1; child < nodes[node].end; child = nodes[child].end)
                n += node_history_has_reached(history, node, child, status);

        return n;
}

/* ": Eth: timed out after 5s; Wifi: exited with status 1" */
static void append_failures(const NodeHistory *history, NodeId node, GString *text) {
        const Node *nodes = history->tree->nodes;
        uint32_t n_told = 0;

        for (NodeId child = node + 1; child < nodes[node].end && text->len < CAUSE_TEXT_MAX; child = nodes[child].end)
                if (node_history_has_reached(history, node, child, STATUS_FAILURE)) {
                        const Cause *cause = causes_get(&history->causes, child);
                        g_autofree char *told = cause_describe(history->tree, cause, node);

                        g_string_append_printf(text, "%s%s", n_told++ > 0 ? "; " : ": ", told);
                }
}

/* "all 2 children failed: Eth: timed out after 5s; Wifi: exited with status 1". NULL: one child alone. */
static Cause *all_failed_cause(const NodeHistory *history, NodeId node) {
        const Node *nodes = history->tree->nodes;
        g_autoptr(GString) text = g_string_new(NULL);
        uint32_t n = count_children(history, node, STATUS_FAILURE);

        if (n < 2)
                return NULL;

        g_string_append_printf(text, "%s%" PRIu32 " children failed", n == nodes[node].n_children ? "all " : "", n);
        append_failures(history, node, text);
        return cause_new(CAUSE_ALL_FAILED, facts_new("children", json_object_new_int64(n), NULL), text->str);
}

/* The cause of the node itself, in addition to that of the deciding child, if there is one. */
static Cause *inner_cause(const NodeHistory *history, NodeId node, Status status, Reason reason, const Cause *below) {
        g_autofree char *text = NULL;

        if (reason == REASON_ATTEMPTS) {
                uint32_t n = node_history_rounds(history, node);

                text = below ? g_strdup_printf("failed %" PRIu32 " time%s", n, n == 1 ? "" : "s")
                             : g_strdup("no attempts are left");
                return cause_new(CAUSE_ATTEMPTS, facts_new("attempts", json_object_new_int64(n), NULL), text);
        }
        if (reason == REASON_THRESHOLD && status == STATUS_FAILURE) {
                /* If several children failed, the text has all of them; otherwise, the cause of the child follows. */
                uint32_t n_children = history->tree->nodes[node].n_children,
                         n_failed = count_children(history, node, STATUS_FAILURE),
                         n_succeeded = count_children(history, node, STATUS_SUCCESS);
                g_autoptr(GString) failures = g_string_new(NULL);

                if (n_failed == 0)
                        g_string_assign(failures, "not enough of its children succeeded");
                else
                        g_string_printf(failures, "%" PRIu32 " of its %" PRIu32 " children failed", n_failed,
                                        n_children);
                if (n_failed > 1)
                        append_failures(history, node, failures);

                return cause_new(CAUSE_THRESHOLD,
                                 facts_new("children", json_object_new_int64(n_children), "failed",
                                           json_object_new_int64(n_failed), "succeeded",
                                           json_object_new_int64(n_succeeded), NULL),
                                 failures->str);
        }
        if (below)
                return cause_new(CAUSE_CHILD, NULL, NULL);

        if (status == STATUS_FAILURE && history->tree->nodes[node].type->class == NODE_DECORATOR &&
            record_of(history, node + 1)->status == STATUS_SUCCESS)
                text = g_strdup_printf("%s succeeded", tree_node_name(history->tree, node + 1));
        return cause_new(CAUSE_FAILED, NULL, text ?: status == STATUS_SKIPPED ? "skipped" : "failed");
}

void node_history_note_change(NodeHistory *history, NodeId node) {
        Record *record = history->changes ? record_to_change(history, node) : NULL;

        if (!record || record->changed)
                return;

        record->changed = true;
        g_array_append_val(history->changes, node);
}

static void count_round(NodeHistory *history, NodeId node) {
        NodeId parent = history->tree->nodes[node].parent;

        if (parent == NODE_NONE || history->tree->nodes[parent].type->class != NODE_DECORATOR)
                return;

        set_count(history, parent, MIN(count_of(history, parent) + 1, UINT16_MAX));
        /* The details of the node contain the number: "attempt 2 of 5", "3 of 6 done". */
        if (record_of(history, parent)->status == STATUS_RUNNING)
                node_history_note_change(history, parent);
}

static bool is_waiting(const Record *record) {
        return record->status == STATUS_RUNNING && record->duration == NODE_HISTORY_WAITING;
}

static uint64_t time_of(const NodeHistory *history, uint64_t now) {
        assert(now >= history->start);

        return MIN(now - history->start + 1, TIME_MAX);
}

/* Time that the node has waited does not count. */
static void set_status(NodeHistory *history, NodeId node, Status status, uint64_t now) {
        Record *record = record_to_change(history, node);
        uint64_t time = time_of(history, now);

        assert(status != STATUS_IDLE);

        if (record->status != STATUS_RUNNING || is_waiting(record)) {
                record->since = time;
                if (!(history->tree->nodes[node].flags & NODE_LEAF))
                        set_count(history, node, 0);
        }
        record->duration = status == STATUS_RUNNING ? NODE_HISTORY_BEGUN : pack_duration(time - record->since);
        record->status = status;
        node_history_note_change(history, node);
}

void node_history_record(NodeHistory *history, NodeId node, Status status, Reason reason, Cause *cause, uint64_t now) {
        Status before = record_of(history, node)->status;
        NodeId failed =
                reason == REASON_TIMEOUT ? node_history_deciding_child(history, node, STATUS_FAILURE) : NODE_NONE;

        if (before == STATUS_ERROR ||
            (status == STATUS_RUNNING && before == STATUS_RUNNING && !is_waiting(record_of(history, node)))) {
                cause_unref(cause);
                return;
        }

        /* After a timeout, the cause includes the last failure of a child, such as the condition of a WaitFor, or the
         * body before a clean-up that was cut short. */
        if (cause && failed != NODE_NONE)
                cause->because = cause_ref(causes_get(&history->causes, failed));
        set_status(history, node, status, now);
        if (cause)
                causes_set(&history->causes, node, cause);
        else if (status == STATUS_FAILURE || status == STATUS_SKIPPED) {
                NodeId child = node_history_deciding_child(history, node, status);
                Cause *below = child == NODE_NONE ? NULL : causes_get(&history->causes, child);
                const NodeType *type = history->tree->nodes[node].type;
                Cause *found = status == STATUS_FAILURE && (type_is_fallback(type) || type == &finally_type)
                                       ? all_failed_cause(history, node)
                                       : NULL;

                if (!found)
                        found = inner_cause(history, node, status, reason, below);
                found->because = cause_ref(below);
                causes_set(&history->causes, node, found);
        } else if (status == STATUS_SUCCESS)
                causes_drop(&history->causes, node);
        if (status == STATUS_FAILURE && may_fail(history, node)) {
                Cause *allowed = cause_new(CAUSE_ALLOWED, NULL, "allowed failure");

                allowed->because = cause_ref(causes_get(&history->causes, node));
                causes_set(&history->causes, node, allowed);
        }

        if (status == STATUS_SUCCESS || status == STATUS_FAILURE)
                count_round(history, node);
}

bool node_history_record_waiting(NodeHistory *history, NodeId node, uint64_t now) {
        Status before = record_of(history, node)->status;

        if (before == STATUS_RUNNING || before == STATUS_ERROR)
                return false;

        set_status(history, node, STATUS_RUNNING, now);
        record_to_change(history, node)->duration = NODE_HISTORY_WAITING;
        return true;
}

bool node_history_record_halting(NodeHistory *history, NodeId node, uint64_t since) {
        const Record *before = record_of(history, node);
        Record *record;

        if (before->status != STATUS_RUNNING || before->duration != NODE_HISTORY_BEGUN)
                return false;

        record = record_to_change(history, node);
        record->duration = pack_duration(time_of(history, since) - record->since + NODE_HISTORY_HALTED_AFTER);
        node_history_note_change(history, node);
        return true;
}

void node_history_repeat(NodeHistory *history, NodeId node, const Cause *cause, uint64_t now) {
        Cause *before = node_history_cause(history, node);
        Record *record = record_to_change(history, node);

        if (record->status != STATUS_RUNNING) {
                record->since = time_of(history, now) - duration_of(record);
                causes_renew_serial(&history->causes, node);
        }
        if (cause && before && !g_str_equal(before->kind, CAUSE_FORCED))
                cause_renew(before, cause);
        count_round(history, node);
}

void node_history_fail(NodeHistory *history, NodeId node, Cause *cause, uint64_t now) {
        for (;;) {
                Cause *below = cause;

                set_status(history, node, STATUS_ERROR, now);
                causes_set(&history->causes, node, cause);
                node = history->tree->nodes[node].parent;
                if (node == NODE_NONE)
                        return;

                cause = cause_new(CAUSE_CHILD, NULL, NULL);
                cause->because = cause_ref(below);
        }
}

uint32_t node_history_count_start(NodeHistory *history, NodeId leaf) {
        uint32_t count = count_of(history, leaf);

        count = count < UINT16_MAX ? count + 1 : 1;
        set_count(history, leaf, count);
        return count;
}

uint32_t node_history_rounds(const NodeHistory *history, NodeId decorator) {
        return count_of(history, decorator);
}

Status node_history_status(const NodeHistory *history, NodeId node) {
        return record_of(history, node)->status;
}

Phase node_history_phase(const NodeHistory *history, NodeId node) {
        const Record *record = record_of(history, node);

        if (record->status != STATUS_RUNNING || record->duration == NODE_HISTORY_BEGUN)
                return PHASE_BEGUN;

        return is_waiting(record) ? PHASE_WAITING : PHASE_HALTING;
}

const char *node_history_state(const NodeHistory *history, NodeId node) {
        switch (node_history_phase(history, node)) {
        case PHASE_WAITING:
                return "waiting";
        case PHASE_HALTING:
                return "halting";
        default:
                return status_to_string(node_history_status(history, node));
        }
}

uint64_t node_history_since(const NodeHistory *history, NodeId node) {
        const Record *record = record_of(history, node);
        uint64_t before = node_history_phase(history, node) == PHASE_HALTING
                                  ? duration_of(record) - NODE_HISTORY_HALTED_AFTER
                                  : 0;

        return record->since > 0 ? history->start + record->since - 1 + before : 0;
}

uint64_t node_history_duration(const NodeHistory *history, NodeId node, uint64_t now) {
        return record_of(history, node)->status == STATUS_RUNNING ? now - node_history_since(history, node)
                                                                  : duration_of(record_of(history, node));
}

Cause *node_history_last_cause(const NodeHistory *history, NodeId node) {
        return causes_get(&history->causes, node);
}

Cause *node_history_cause(const NodeHistory *history, NodeId node) {
        Status status = record_of(history, node)->status;

        return status == STATUS_IDLE || status == STATUS_RUNNING || status == STATUS_HALTED
                       ? NULL
                       : node_history_last_cause(history, node);
}

NodeId node_history_halted_by(const NodeHistory *history, NodeId node) {
        do
                node = history->tree->nodes[node].parent;
        while (node != NODE_NONE && (record_of(history, node)->status == STATUS_HALTED ||
                                     node_history_phase(history, node) == PHASE_HALTING));

        return node;
}

bool node_history_image(const NodeHistory *history, NodeId node, NodeHistoryImage *ret_image) {
        const Record *record = record_of(history, node);

        *ret_image = (NodeHistoryImage){
                .since = record->since,
                .duration = duration_of(record),
                .status = record->status,
                .count = count_of(history, node),
        };
        return record->since > 0 || ret_image->count > 0;
}

bool node_history_restore(NodeHistory *history, NodeId node, const NodeHistoryImage *image) {
        if (image->since > TIME_MAX || image->duration > TIME_MAX || image->status >= STATUS_NODE_MAX_ ||
            image->count > UINT16_MAX)
                return false;

        *record_to_change(history, node) = (Record){
                .since = image->since,
                .duration = pack_duration(image->duration),
                .status = image->status,
        };
        set_count(history, node, image->count);
        return true;
}

Causes *node_history_causes(NodeHistory *history) {
        return &history->causes;
}

/* Call before the list of changes is given up. */
static void clear_changed(NodeHistory *history) {
        for (unsigned i = 0; i < history->changes->len; i++)
                record_to_change(history, g_array_index(history->changes, NodeId, i))->changed = false;
}

void node_history_set_watched(NodeHistory *history, bool watched) {
        if (watched && !history->changes)
                history->changes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        else if (!watched && history->changes) {
                clear_changed(history);
                g_clear_pointer(&history->changes, g_array_unref);
        }
}

GArray *node_history_take_changes(NodeHistory *history) {
        GArray *changes = history->changes;

        if (!changes || changes->len == 0)
                return NULL;

        clear_changed(history);
        history->changes = g_array_new(FALSE, FALSE, sizeof(NodeId));
        return changes;
}
