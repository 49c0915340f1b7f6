/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A binary heap of deadlines in a GSource whose ready time is the earliest of them. Each timer knows
 * its position in the heap, so that cancelling one costs no search.
 */

#include <assert.h>
#include <stdbool.h>

#include "basic/timers.h"

#define POSITION_NONE UINT_MAX

struct Timers {
        GSource source; /* first: the source is the object, alive until the last dispatch has returned */
        GPtrArray *heap;
        uint64_t next_serial;
};

struct Timer {
        Timers *timers;
        unsigned position; /* in the heap, or POSITION_NONE */
        uint64_t deadline;
        uint64_t serial; /* among equal deadlines, the first made is the first called */
        TimerCallback callback;
        void *userdata;
};

static Timer *heap_get(const Timers *timers, unsigned position) {
        return g_ptr_array_index(timers->heap, position);
}

static void heap_put(Timers *timers, unsigned position, Timer *timer) {
        g_ptr_array_index(timers->heap, position) = timer;
        timer->position = position;
}

static bool timer_before(const Timer *a, const Timer *b) {
        return a->deadline != b->deadline ? a->deadline < b->deadline : a->serial < b->serial;
}

/* Moves the timer towards the root of the heap, from a place that is free. */
static void heap_rise(Timers *timers, unsigned position, Timer *timer) {
        while (position > 0) {
                unsigned parent = (position - 1) / 2;

                if (!timer_before(timer, heap_get(timers, parent)))
                        break;
                heap_put(timers, position, heap_get(timers, parent));
                position = parent;
        }

        heap_put(timers, position, timer);
}

/* Moves the timer away from the root of the heap, from a place that is free. */
static void heap_sink(Timers *timers, unsigned position, Timer *timer) {
        for (;;) {
                unsigned child = 2 * position + 1;

                if (child + 1 < timers->heap->len && timer_before(heap_get(timers, child + 1), heap_get(timers, child)))
                        child++;
                if (child >= timers->heap->len || !timer_before(heap_get(timers, child), timer))
                        break;
                heap_put(timers, position, heap_get(timers, child));
                position = child;
        }

        heap_put(timers, position, timer);
}

static void heap_remove(Timers *timers, Timer *timer) {
        unsigned hole = timer->position;
        Timer *last = g_ptr_array_remove_index(timers->heap, timers->heap->len - 1);

        timer->position = POSITION_NONE;
        if (last == timer)
                return;

        if (timer_before(last, timer))
                heap_rise(timers, hole, last);
        else
                heap_sink(timers, hole, last);
}

static void timers_rearm(Timers *timers) {
        uint64_t earliest = timers->heap->len > 0 ? heap_get(timers, 0)->deadline : UINT64_MAX;

        g_source_set_ready_time(&timers->source, earliest < INT64_MAX ? (int64_t) earliest : -1);
}

/* Only what is due when the turn begins: timers made by a callback wait for the next turn. */
static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Timers *timers = (Timers *) source;
        uint64_t now = (uint64_t) g_source_get_time(source);

        while (timers->heap->len > 0 && heap_get(timers, 0)->deadline <= now) {
                Timer *timer = heap_get(timers, 0);

                heap_remove(timers, timer);
                timer->callback(timer->userdata);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
        }

        timers_rearm(timers);
        return G_SOURCE_CONTINUE;
}

static void source_finalize(GSource *source) {
        g_ptr_array_unref(((Timers *) source)->heap);
}

static GSourceFuncs source_funcs = {
        .dispatch = source_dispatch,
        .finalize = source_finalize,
};

Timers *timers_new(GMainContext *context) {
        Timers *timers = (Timers *) g_source_new(&source_funcs, sizeof(Timers));

        timers->heap = g_ptr_array_new();
        g_source_set_name(&timers->source, "timers");
        g_source_attach(&timers->source, context);
        return timers;
}

void timers_free(Timers *timers) {
        if (!timers)
                return;

        for (unsigned i = 0; i < timers->heap->len; i++)
                heap_get(timers, i)->position = POSITION_NONE;
        g_ptr_array_set_size(timers->heap, 0);

        g_source_destroy(&timers->source);
        g_source_unref(&timers->source);
}

Timer *timer_new(Timers *timers, uint64_t usec, TimerCallback callback, void *userdata) {
        uint64_t now = (uint64_t) g_get_monotonic_time();
        Timer *timer = g_new(Timer, 1);

        assert(callback);

        *timer = (Timer){
                .timers = timers,
                .deadline = usec < UINT64_MAX - now ? now + usec : UINT64_MAX,
                .serial = timers->next_serial++,
                .callback = callback,
                .userdata = userdata,
        };

        g_ptr_array_add(timers->heap, timer);
        heap_rise(timers, timers->heap->len - 1, timer);
        if (timer->position == 0)
                timers_rearm(timers);
        return timer;
}

void timer_free(Timer *timer) {
        if (!timer)
                return;

        if (timer->position != POSITION_NONE) {
                Timers *timers = timer->timers;
                bool was_first = timer->position == 0;

                heap_remove(timers, timer);
                if (was_first)
                        timers_rearm(timers);
        }

        g_free(timer);
}

uint64_t timer_deadline(const Timer *timer) {
        return timer->deadline;
}
