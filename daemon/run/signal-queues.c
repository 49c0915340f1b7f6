/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the signals that come for an action between its executions: how many are kept for it, and how many were missed.
 * A signal that is kept, taken or missed is an input. In a live run, a listener receives the signals from the first
 * execution of the node until the run ends; what an execution takes is in its memo, so that no restart loses it.
 */

#include <assert.h>
#include <inttypes.h>

#include "basic/cleanup.h"
#include "basic/dbus-value.h"
#include "basic/foreach.h"
#include "basic/json-weight.h"
#include "basic/sorted.h"
#include "engine/machine.h"
#include "run/run-state.h"

/* The key of the memo of an execution that has taken a signal. */
#define TAKEN "signal"

static void queue_free(void *p) {
        SignalQueue *queue = p;

        assert(!queue->listener);
        json_object_put(queue->signals);
        json_object_put(queue->noted);
        g_free(queue);
}

unsigned run_queue_length(const Run *run, NodeId node) {
        const Node *at = &definition_tree(run->definition)->nodes[node];

        return at->type->hears ? (unsigned) *(const int64_t *) (const void *) ((const char *) at->params +
                                                                               at->type->queue_offset)
                               : 0;
}

bool run_hears(const Run *run, NodeId node) {
        const Node *nodes = definition_tree(run->definition)->nodes;

        if (!nodes[node].type->hears)
                return false;
        if (run_queue_length(run, node) > 0)
                return true;

        for (NodeId above = nodes[node].parent; above != NODE_NONE; above = nodes[above].parent)
                if (nodes[above].type->flags & TYPE_REPEATS)
                        return true;
        return false;
}

SignalQueue *run_queue(const Run *run, NodeId node) {
        return run->queues ? g_hash_table_lookup(run->queues, GUINT_TO_POINTER(node)) : NULL;
}

json_object *run_signals(const Run *run, NodeId node) {
        const SignalQueue *queue = run_queue(run, node);

        return queue ? queue->signals : NULL;
}

SignalQueue *run_add_queue(Run *run, NodeId node, json_object *noted) {
        SignalQueue *queue = g_new(SignalQueue, 1);

        *queue = (SignalQueue){ .signals = json_object_new_array(), .noted = json_object_get(noted) };
        if (!run->queues)
                run->queues = g_hash_table_new_full(NULL, NULL, NULL, queue_free);
        g_hash_table_insert(run->queues, GUINT_TO_POINTER(node), queue);
        return queue;
}

/* With other values in its parameters, the node waits for other signals than those that were kept. */
void run_begin_queue(Run *run, NodeId node, json_object *noted) {
        SignalQueue *queue;

        if (!run_hears(run, node))
                return;

        queue = run_queue(run, node);
        if (!queue) {
                run_add_queue(run, node, noted);
                return;
        }
        if (json_object_equal(queue->noted, noted))
                return;

        json_object_put(queue->noted);
        queue->noted = json_object_get(noted);
        json_object_put(queue->signals);
        queue->signals = json_object_new_array();
        queue->bytes = 0;
        queue->stale = true;
}

bool run_queue_has_room(const Run *run, NodeId node, json_object *signal) {
        const SignalQueue *queue = run_queue(run, node);

        return json_object_array_length(queue->signals) < run_queue_length(run, node) &&
               queue->bytes + json_weight(signal) <= VALUE_ROOM_MAX;
}

bool run_queue_put(Run *run, NodeId node, json_object *signal) {
        SignalQueue *queue = run_queue(run, node);

        if (!run_queue_has_room(run, node, signal))
                return false;

        queue->bytes += json_weight(signal);
        json_object_array_add(queue->signals, json_object_get(signal));
        return true;
}

static void note(Run *run, NodeId node, const char *key, json_object *value) {
        g_autoptr(json_object) details = json_object_new_object();

        json_object_object_add(details, key, json_object_get(value));
        run_note_values(run, ENTRY_SIGNAL, node, details);
        run_flush(run);
        node_history_note_change(run->history, node);
}

void input_signal(Run *run, NodeId node, json_object *signal, uint64_t now) {
        const RunLeaf *leaf = run_leaf(run, node);

        assert(!run->computing && run_queue(run, node));

        run->now = now;
        run_queue_put(run, node, signal);
        if (!leaf || leaf->status != STATUS_RUNNING || leaf->halted)
                run_tell(run, node, "queued");
        note(run, node, "came", signal);
        run_end_events(run);
}

void input_signal_taken(Run *run, NodeId node, uint64_t now) {
        SignalQueue *queue = run_queue(run, node);
        json_object *signal = json_object_array_get_idx(queue->signals, 0);
        g_autoptr(json_object) memo = json_object_new_object(), taken = json_object_new_boolean(true);

        assert(!run->computing && json_object_array_length(queue->signals) > 0 && run_leaf(run, node));

        run->now = now;
        json_object_object_add(memo, TAKEN, json_object_get(signal));
        run_leaf_set_memo(run_leaf(run, node), memo);
        queue->bytes -= json_weight(signal);
        json_object_array_del_idx(queue->signals, 0, 1);
        note(run, node, "taken", taken);
}

void input_signals_missed(Run *run, NodeId node, uint64_t n, uint64_t now) {
        g_autoptr(json_object) number = json_object_new_uint64(n);

        assert(!run->computing && run_queue(run, node));

        run->now = now;
        run_queue(run, node)->missed += n;
        run_tell_text(run, node, "missed", "%" PRIu64 " signal%s", n, n == 1 ? "" : "s");
        note(run, node, "missed", number);
        run_end_events(run);
}

void run_tell_queues_were_deaf(Run *run) {
        g_autoptr(GList) nodes = sorted_keys(run->queues);

        for (GList *i = nodes; i; i = i->next)
                if (run_queue_length(run, GPOINTER_TO_UINT(i->data)) > 0)
                        run_tell_text(run, GPOINTER_TO_UINT(i->data), "missed",
                                      "the signals that came while btd was not running");
}

/* Of a live run. */

static void record_missed(Run *run, NodeId node, SignalQueue *queue) {
        uint64_t n = queue->unrecorded;

        queue->unrecorded = 0;
        if (n > 0)
                input_signals_missed(run, node, n, live_run_clock(run));
}

void live_run_listen(Run *run, NodeId node) {
        SignalQueue *queue = run_queue(run, node);

        if (queue->stale)
                g_clear_pointer(&queue->listener, activity_free);
        queue->stale = false;
        record_missed(run, node, queue);
        if (!queue->listener)
                queue->listener = activity_listen(run, &(RunLeaf){ .node = node, .noted = queue->noted });
}

void live_run_record_missed(Run *run) {
        if (!run->queues || !run->machine)
                return;

        TABLE_PAIRS(SignalQueue, it, run->queues)
                record_missed(run, GPOINTER_TO_UINT(it.key), it.value);
}

void live_run_end_listening(Run *run, NodeId above) {
        const Node *nodes = definition_tree(run->definition)->nodes;

        if (!run->queues)
                return;

        TABLE_PAIRS(SignalQueue, it, run->queues) {
                NodeId node = GPOINTER_TO_UINT(it.key);

                if (above == NODE_NONE || (node > above && node < nodes[above].end))
                        g_clear_pointer(&it.value->listener, activity_free);
        }
}

/* Signals come from the main loop, so the run is not busy. */
void run_hear(Run *run, NodeId node, json_object *signal) {
        Activity *activity = live_run_activity(run, node);
        bool waits = activity && activity_waits_for_signal(activity);

        assert(!run_is_busy(run));

        if (run_queue_length(run, node) == 0 && waits)
                activity_hear(activity, signal);
        else if (run_queue_length(run, node) > 0 && run_queue_has_room(run, node, signal)) {
                input_signal(run, node, signal, live_run_clock(run));
                if (waits)
                        activity_hear(activity, NULL);
        } else
                run_queue(run, node)->unrecorded++;
}

json_object *run_take_signal(Run *run, NodeId node) {
        const RunLeaf *leaf = run_leaf(run, node);
        json_object *signal = NULL;

        if (leaf->memo && json_object_object_get_ex(leaf->memo, TAKEN, &signal))
                return json_object_get(signal);
        if (json_object_array_length(run_queue(run, node)->signals) == 0)
                return NULL;

        input_signal_taken(run, node, live_run_clock(run));
        json_object_object_get_ex(leaf->memo, TAKEN, &signal);
        return json_object_get(signal);
}
