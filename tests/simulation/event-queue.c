/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Keeps the events of the simulated world in a sequence, sorted by time. */

#include "event-queue.h"
#include "clock.h"

/* The main loop sleeps for whole milliseconds, so a daemon's timers are no more exact than this. */
#define TIE_USEC 1000u

typedef struct Item {
        uint64_t time, serial;
        bool later; /* than the time at which it was added */
        EventDo what;
        void *userdata;
        GDestroyNotify drop;
} Item;

static GSequence *items;
static uint64_t next_serial;
static bool ties;

static int compare_items(gconstpointer a, gconstpointer b, gpointer userdata) {
        const Item *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;

        return (x->serial > y->serial) - (x->serial < y->serial);
}

static void item_free(void *data) {
        Item *item = data;

        if (item->drop)
                item->drop(item->userdata);
        g_free(item);
}

static bool is_tie(GSequenceIter *iter, const Item *item) {
        const Item *other = g_sequence_iter_is_end(iter) ? NULL : g_sequence_get(iter);

        return other && other != item && item->later && other->later &&
               MAX(item->time, other->time) - MIN(item->time, other->time) < TIE_USEC;
}

static void look_for_ties(GSequenceIter *iter) {
        const Item *item = g_sequence_get(iter);

        ties |= is_tie(g_sequence_iter_prev(iter), item) || is_tie(g_sequence_iter_next(iter), item);
}

void event_queue_add(uint64_t usec, EventDo what, void *userdata, GDestroyNotify drop) {
        Item *item = g_new(Item, 1);

        if (!items)
                items = g_sequence_new(item_free);

        *item = (Item){
                .time = clock_now() + usec,
                .serial = next_serial++,
                .later = usec > 0,
                .what = what,
                .userdata = userdata,
                .drop = drop,
        };
        look_for_ties(g_sequence_insert_sorted(items, item, compare_items, NULL));
}

bool event_queue_had_ties(void) {
        return ties;
}

uint64_t event_queue_next(void) {
        GSequenceIter *first = items ? g_sequence_get_begin_iter(items) : NULL;

        return first && !g_sequence_iter_is_end(first) ? ((Item *) g_sequence_get(first))->time : UINT64_MAX;
}

void event_queue_run(void) {
        while (event_queue_next() <= clock_now()) {
                GSequenceIter *first = g_sequence_get_begin_iter(items);
                Item *item = g_sequence_get(first), done = *item;

                item->drop = NULL;
                g_sequence_remove(first);
                done.what(done.userdata);
        }
}

void event_queue_clear(void) {
        g_clear_pointer(&items, g_sequence_free);
        ties = false;
}
