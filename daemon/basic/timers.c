/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A heap of deadlines in a GSource that is ready when the earliest of them has come. The deadlines are kept in the heap
 * itself, four children to a node, so that putting it in order looks at few places of memory. Each timer knows its
 * position in the heap, so that cancelling one costs no search.
 */

#include <assert.h>
#include <stdbool.h>

#include "basic/timers.h"

#define CHILDREN 4u
#define POSITION_NONE UINT_MAX

typedef struct Entry {
        uint64_t deadline;
        uint64_t serial; /* among equal deadlines, the first made is the first called */
        Timer *timer;
} Entry;

struct Timers {
        GSource source; /* first: the source is the object, alive until the last dispatch has returned */
        GArray *heap;   /* of Entry */
        uint64_t next_serial;
};

struct Timer {
        Timers *timers;
        unsigned position; /* in the heap, or POSITION_NONE */
        uint64_t deadline;
        TimerCallback callback;
        void *userdata;
};

static Entry *heap_get(const Timers *timers, unsigned position) {
        return &g_array_index(timers->heap, Entry, position);
}

static void heap_put(Timers *timers, unsigned position, Entry entry) {
        *heap_get(timers, position) = entry;
        entry.timer->position = position;
}

static bool entry_before(const Entry *a, const Entry *b) {
        return a->deadline != b->deadline ? a->deadline < b->deadline : a->serial < b->serial;
}

/* Moves the entry towards the root of the heap, from a place that is free. */
static void heap_rise(Timers *timers, unsigned position, Entry entry) {
        while (position > 0) {
                unsigned parent = (position - 1) / CHILDREN;

                if (!entry_before(&entry, heap_get(timers, parent)))
                        break;
                heap_put(timers, position, *heap_get(timers, parent));
                position = parent;
        }

        heap_put(timers, position, entry);
}

/* The earliest child of the place; one that is beyond the heap when it has none. */
static unsigned heap_child(const Timers *timers, unsigned position) {
        unsigned first = CHILDREN * position + 1, end = MIN(first + CHILDREN, timers->heap->len), earliest = first;

        for (unsigned child = first + 1; child < end; child++)
                if (entry_before(heap_get(timers, child), heap_get(timers, earliest)))
                        earliest = child;

        return earliest;
}

/* Moves the entry away from the root of the heap, from a place that is free. */
static void heap_sink(Timers *timers, unsigned position, Entry entry) {
        for (;;) {
                unsigned child = heap_child(timers, position);

                if (child >= timers->heap->len || !entry_before(heap_get(timers, child), &entry))
                        break;
                heap_put(timers, position, *heap_get(timers, child));
                position = child;
        }

        heap_put(timers, position, entry);
}

static void heap_remove(Timers *timers, Timer *timer) {
        unsigned hole = timer->position, end = timers->heap->len - 1;
        Entry removed = *heap_get(timers, hole), last = *heap_get(timers, end);

        g_array_set_size(timers->heap, end);
        timer->position = POSITION_NONE;
        if (hole == end)
                return;

        if (entry_before(&last, &removed))
                heap_rise(timers, hole, last);
        else
                heap_sink(timers, hole, last);
}

static uint64_t timers_earliest(const Timers *timers) {
        return timers->heap->len > 0 ? heap_get(timers, 0)->deadline : UINT64_MAX;
}

/* Asked in every turn, rather than told as g_source_set_ready_time() would have to be, which is a system call for each
 * timer that is cancelled while it is the earliest. */
static gboolean source_prepare(GSource *source, int *ret_timeout) {
        uint64_t now = (uint64_t) g_source_get_time(source), earliest = timers_earliest((Timers *) source);

        if (earliest <= now)
                return TRUE;

        *ret_timeout = earliest == UINT64_MAX ? -1 : (int) MIN((earliest - now + 999) / 1000, (uint64_t) G_MAXINT);
        return FALSE;
}

static gboolean source_check(GSource *source) {
        return timers_earliest((Timers *) source) <= (uint64_t) g_source_get_time(source);
}

/* Only what is due when the turn begins: timers made by a callback wait for the next turn. */
static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Timers *timers = (Timers *) source;
        uint64_t now = (uint64_t) g_source_get_time(source);

        while (timers_earliest(timers) <= now) {
                Timer *timer = heap_get(timers, 0)->timer;

                heap_remove(timers, timer);
                timer->callback(timer->userdata);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
        }

        return G_SOURCE_CONTINUE;
}

static void source_finalize(GSource *source) {
        g_array_unref(((Timers *) source)->heap);
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
        .finalize = source_finalize,
};

Timers *timers_new(GMainContext *context) {
        Timers *timers = (Timers *) g_source_new(&source_funcs, sizeof(Timers));

        timers->heap = g_array_new(FALSE, FALSE, sizeof(Entry));
        g_source_set_name(&timers->source, "timers");
        g_source_attach(&timers->source, context);
        return timers;
}

void timers_free(Timers *timers) {
        if (!timers)
                return;

        for (unsigned i = 0; i < timers->heap->len; i++)
                heap_get(timers, i)->timer->position = POSITION_NONE;
        g_array_set_size(timers->heap, 0);

        g_source_destroy(&timers->source);
        g_source_unref(&timers->source);
}

Timer *timer_new_at(Timers *timers, uint64_t deadline, TimerCallback callback, void *userdata) {
        Timer *timer = g_new(Timer, 1);

        assert(callback);

        *timer = (Timer){ .timers = timers, .deadline = deadline, .callback = callback, .userdata = userdata };
        g_array_set_size(timers->heap, timers->heap->len + 1);
        heap_rise(timers, timers->heap->len - 1, (Entry){ timer->deadline, timers->next_serial++, timer });
        return timer;
}

Timer *timer_new(Timers *timers, uint64_t usec, TimerCallback callback, void *userdata) {
        uint64_t now = (uint64_t) g_get_monotonic_time();

        return timer_new_at(timers, usec < UINT64_MAX - now ? now + usec : UINT64_MAX, callback, userdata);
}

void timer_free(Timer *timer) {
        if (!timer)
                return;

        if (timer->position != POSITION_NONE)
                heap_remove(timer->timers, timer);
        g_free(timer);
}

uint64_t timer_deadline(const Timer *timer) {
        return timer->deadline;
}
