/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keeps the events of a simulation, sorted by time and then by the order in which they were added. */

#include <assert.h>

#include "client/simulate/event-queue.h"

struct EventQueue {
        GSequence *entries; /* of QueuedEvent */
        uint64_t now, next_serial;
};

struct QueuedEvent {
        GSequenceIter *place;
        uint64_t time, serial;
        EventCallback callback;
        NodeId node;
        void *userdata;
};

EventQueue *event_queue_new(void) {
        EventQueue *queue = g_new0(EventQueue, 1);

        queue->entries = g_sequence_new(g_free);
        return queue;
}

void event_queue_free(EventQueue *queue) {
        if (!queue)
                return;

        g_sequence_free(queue->entries);
        g_free(queue);
}

uint64_t event_queue_now(const EventQueue *queue) {
        return queue->now;
}

static QueuedEvent *first_entry(const EventQueue *queue) {
        return g_sequence_is_empty(queue->entries) ? NULL : g_sequence_get(g_sequence_get_begin_iter(queue->entries));
}

bool event_queue_next(const EventQueue *queue, uint64_t *ret_time) {
        const QueuedEvent *first = first_entry(queue);

        if (first)
                *ret_time = first->time;

        return first;
}

static int compare_entries(const void *a, const void *b, void *userdata) {
        const QueuedEvent *first = a, *second = b;

        if (first->time != second->time)
                return first->time < second->time ? -1 : 1;

        return first->serial < second->serial ? -1 : first->serial > second->serial;
}

QueuedEvent *event_queue_add(EventQueue *queue, uint64_t delay, EventCallback callback, NodeId node, void *userdata) {
        QueuedEvent *entry;

        if (delay >= SPAN_INFINITY - queue->now)
                return NULL;

        entry = g_new(QueuedEvent, 1);
        *entry = (QueuedEvent){
                .time = queue->now + delay,
                .serial = queue->next_serial++,
                .callback = callback,
                .node = node,
                .userdata = userdata,
        };
        entry->place = g_sequence_insert_sorted(queue->entries, entry, compare_entries, NULL);
        return entry;
}

void event_queue_drop(QueuedEvent *entry) {
        if (entry)
                g_sequence_remove(entry->place);
}

void event_queue_advance(EventQueue *queue) {
        QueuedEvent *entry = first_entry(queue);
        uint64_t end = queue->next_serial;

        assert(entry);

        queue->now = entry->time;
        for (; entry && entry->time == queue->now && entry->serial < end; entry = first_entry(queue)) {
                QueuedEvent due = *entry;

                event_queue_drop(entry);
                due.callback(due.node, due.userdata);
        }
}

void event_queue_skip_to(EventQueue *queue, uint64_t time) {
        const QueuedEvent *first G_GNUC_UNUSED = first_entry(queue);

        assert(time >= queue->now && (!first || time <= first->time));

        queue->now = time;
}
