/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulated time: a queue of future events. Time begins at 0 and jumps from one event to the next. Events of the same
 * time come in the order in which they were added.
 */

#include <glib.h>
#include <stdbool.h>

#include "engine/type.h"

typedef struct EventQueue EventQueue;
typedef struct QueuedEvent QueuedEvent;
typedef void (*EventCallback)(NodeId node, void *userdata);

EventQueue *event_queue_new(void);
void event_queue_free(EventQueue *queue);

/* Microseconds since the beginning. */
uint64_t event_queue_now(const EventQueue *queue);
/* The time of the first event; false: there is none. */
bool event_queue_next(const EventQueue *queue, uint64_t *ret_time);

/* The event is freed before its callback is called. NULL: it would never come. */
QueuedEvent *event_queue_add(EventQueue *queue, uint64_t delay, EventCallback callback, NodeId node, void *userdata);
void event_queue_drop(QueuedEvent *entry);

/* Jumps to the first event and calls all events of that time. Events that are added meanwhile wait for the next call,
 * even if they have the same time. */
void event_queue_advance(EventQueue *queue);
/* Jumps to a time before the next event. */
void event_queue_skip_to(EventQueue *queue, uint64_t time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventQueue, event_queue_free)
