/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements timers as a heap of deadlines in a GSource, which is ready when the earliest deadline has passed. The
 * heap holds the deadlines themselves, with four children per node, so that sorting touches few cache lines. Each
 * timer knows its position in the heap, so that cancelling needs no search.
 */

#include <assert.h>
#include <glib-unix.h>
#include <stdbool.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "basic/timers.h"

#define CHILDREN 4u
#define POSITION_NONE UINT_MAX
/* If reading two clocks takes less than this, they count as read at the same time. */
#define MEASURE_MAX_USEC 1000u

typedef struct Entry {
        uint64_t deadline;
        uint64_t serial; /* equal deadlines expire in the order of creation */
        Timer *timer;
} Entry;

struct Timers {
        GSource source;   /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        GArray *heaps[2]; /* of Entry, indexed by TimerClock */
        uint64_t next_serial;
        int boottime;         /* timerfd that ends a poll() that was suspended with the machine; -1: not needed yet */
        uint64_t boottime_at; /* when the timerfd expires; UINT64_MAX: never */
        bool simulated;
        uint64_t now; /* of a simulation */
};

struct Timer {
        Timers *timers;
        TimerClock clock;
        unsigned position; /* index in the heap, or POSITION_NONE */
        uint64_t deadline;
        TimerCallback callback;
        void *userdata;
};

static Entry *heap_get(const GArray *heap, unsigned position) {
        return &g_array_index(heap, Entry, position);
}

static void heap_put(GArray *heap, unsigned position, Entry entry) {
        *heap_get(heap, position) = entry;
        entry.timer->position = position;
}

static bool entry_before(const Entry *a, const Entry *b) {
        return a->deadline != b->deadline ? a->deadline < b->deadline : a->serial < b->serial;
}

/* Moves the entry from a free position towards the root. */
static void heap_rise(GArray *heap, unsigned position, Entry entry) {
        while (position > 0) {
                unsigned parent = (position - 1) / CHILDREN;

                if (!entry_before(&entry, heap_get(heap, parent)))
                        break;
                heap_put(heap, position, *heap_get(heap, parent));
                position = parent;
        }

        heap_put(heap, position, entry);
}

/* Moves the entry from a free position away from the root. */
static void heap_sink(GArray *heap, unsigned position, Entry entry) {
        for (;;) {
                unsigned first = CHILDREN * position + 1, end = MIN(first + CHILDREN, heap->len), earliest = first;

                for (unsigned child = first + 1; child < end; child++)
                        if (entry_before(heap_get(heap, child), heap_get(heap, earliest)))
                                earliest = child;
                if (first >= heap->len || !entry_before(heap_get(heap, earliest), &entry))
                        break;

                heap_put(heap, position, *heap_get(heap, earliest));
                position = earliest;
        }

        heap_put(heap, position, entry);
}

static void heap_remove(Timer *timer) {
        GArray *heap = timer->timers->heaps[timer->clock];
        unsigned hole = timer->position, end = heap->len - 1;
        Entry removed = *heap_get(heap, hole), last = *heap_get(heap, end);

        g_array_set_size(heap, end);
        timer->position = POSITION_NONE;
        if (hole == end)
                return;

        if (entry_before(&last, &removed))
                heap_rise(heap, hole, last);
        else
                heap_sink(heap, hole, last);
}

static uint64_t timers_earliest(const Timers *timers, TimerClock clock) {
        const GArray *heap = timers->heaps[clock];

        return heap->len > 0 ? heap_get(heap, 0)->deadline : UINT64_MAX;
}

/* Time until the earliest deadline. UINT64_MAX: there are no timers. */
static uint64_t timers_left(const Timers *timers, TimerClock clock, uint64_t now) {
        uint64_t earliest = timers_earliest(timers, clock);

        return earliest == UINT64_MAX ? UINT64_MAX : earliest - MIN(now, earliest);
}

static uint64_t boottime_now(void) {
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t) now.tv_sec * G_USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

uint64_t timers_now(const Timers *timers, TimerClock clock) {
        if (timers->simulated)
                return timers->now;

        return clock == TIMER_BOOTTIME ? boottime_now() : (uint64_t) g_get_monotonic_time();
}

/* The clocks are read one after the other, and the machine may be suspended in between: repeat if reading took long. */
uint64_t timers_suspended(const Timers *timers) {
        uint64_t before, boottime, after;

        if (timers->simulated)
                return 0;

        do {
                before = (uint64_t) g_get_monotonic_time();
                boottime = boottime_now();
                after = (uint64_t) g_get_monotonic_time();
        } while (after - before > MEASURE_MAX_USEC);

        return boottime > before ? boottime - before : 0;
}

/* Computes the timeout in each turn. g_source_set_ready_time() would cost a system call each time the earliest timer is
 * cancelled. */
static gboolean source_prepare(GSource *source, int *ret_timeout) {
        Timers *timers = (Timers *) source;
        uint64_t left = timers_left(timers, TIMER_MONOTONIC, (uint64_t) g_source_get_time(source)),
                 boottime = timers_earliest(timers, TIMER_BOOTTIME);
        struct itimerspec at = {};

        if (boottime != timers->boottime_at && timers->boottime >= 0) {
                timers->boottime_at = boottime;
                if (boottime != UINT64_MAX) {
                        at.it_value.tv_sec = (time_t) (boottime / G_USEC_PER_SEC);
                        at.it_value.tv_nsec = (long) (boottime % G_USEC_PER_SEC * 1000) + (boottime == 0);
                }
                (void) timerfd_settime(timers->boottime, TFD_TIMER_ABSTIME, &at, NULL);
        }
        if (timers->heaps[TIMER_BOOTTIME]->len > 0)
                left = MIN(left, timers_left(timers, TIMER_BOOTTIME, boottime_now()));

        *ret_timeout = left == UINT64_MAX ? -1 : (int) MIN((left + 999) / 1000, (uint64_t) G_MAXINT);
        return left == 0;
}

static gboolean source_check(GSource *source) {
        const Timers *timers = (Timers *) source;
        uint64_t boottime = timers_earliest(timers, TIMER_BOOTTIME);

        return timers_earliest(timers, TIMER_MONOTONIC) <= (uint64_t) g_source_get_time(source) ||
               (boottime != UINT64_MAX && boottime <= boottime_now());
}

/* The timer that has expired first, if both clocks have gone on alike since then; NULL: none has expired. */
static Timer *next_due(const Timers *timers, uint64_t monotonic, uint64_t boottime) {
        uint64_t one = timers_earliest(timers, TIMER_MONOTONIC), other = timers_earliest(timers, TIMER_BOOTTIME);

        if (one <= monotonic && (other > boottime || monotonic - one >= boottime - other))
                return heap_get(timers->heaps[TIMER_MONOTONIC], 0)->timer;

        return other <= boottime ? heap_get(timers->heaps[TIMER_BOOTTIME], 0)->timer : NULL;
}

/* Only timers that are due when the turn begins: timers created by a callback wait for the next turn. */
static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Timers *timers = (Timers *) source;
        uint64_t monotonic = (uint64_t) g_source_get_time(source),
                 boottime = timers->heaps[TIMER_BOOTTIME]->len > 0 ? boottime_now() : 0;
        Timer *timer;

        while ((timer = next_due(timers, monotonic, boottime))) {
                heap_remove(timer);
                timer->callback(timer->userdata);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
        }

        return G_SOURCE_CONTINUE;
}

static void source_finalize(GSource *source) {
        Timers *timers = (Timers *) source;

        g_array_unref(timers->heaps[TIMER_MONOTONIC]);
        g_array_unref(timers->heaps[TIMER_BOOTTIME]);
        if (timers->boottime >= 0)
                close(timers->boottime);
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
        .finalize = source_finalize,
};

static Timers *make_timers(void) {
        Timers *timers = (Timers *) g_source_new(&source_funcs, sizeof(Timers));

        timers->heaps[TIMER_MONOTONIC] = g_array_new(FALSE, FALSE, sizeof(Entry));
        timers->heaps[TIMER_BOOTTIME] = g_array_new(FALSE, FALSE, sizeof(Entry));
        timers->boottime = -1;
        timers->boottime_at = UINT64_MAX;
        g_source_set_name(&timers->source, "timers");
        return timers;
}

Timers *timers_new(GMainContext *context) {
        Timers *timers = make_timers();

        g_source_attach(&timers->source, context);
        return timers;
}

Timers *timers_new_simulated(void) {
        Timers *timers = make_timers();

        timers->simulated = true;
        return timers;
}

uint64_t timers_next(const Timers *timers) {
        return timers_earliest(timers, TIMER_MONOTONIC);
}

void timers_jump(Timers *timers, uint64_t time) {
        const GArray *heap = timers->heaps[TIMER_MONOTONIC];
        uint64_t end = timers->next_serial;

        assert(timers->simulated && time <= timers_next(timers));

        timers->now = MAX(time, timers->now);
        while (timers_next(timers) <= timers->now && heap_get(heap, 0)->serial < end) {
                Timer *timer = heap_get(heap, 0)->timer;

                heap_remove(timer);
                timer->callback(timer->userdata);
        }
}

void timers_free(Timers *timers) {
        if (!timers)
                return;

        for (TimerClock clock = TIMER_MONOTONIC; clock <= TIMER_BOOTTIME; clock++) {
                for (unsigned i = 0; i < timers->heaps[clock]->len; i++)
                        heap_get(timers->heaps[clock], i)->timer->position = POSITION_NONE;
                g_array_set_size(timers->heaps[clock], 0);
        }

        g_source_destroy(&timers->source);
        g_source_unref(&timers->source);
}

Timer *timer_new_on(Timers *timers, TimerClock clock, uint64_t deadline, TimerCallback callback, void *userdata) {
        GArray *heap = timers->heaps[timers->simulated ? TIMER_MONOTONIC : clock];
        Timer *timer = g_new(Timer, 1);

        assert(callback);

        if (timers->simulated)
                clock = TIMER_MONOTONIC;
        /* If there is no descriptor left for the timerfd, a timer is only late after a suspend. */
        if (clock == TIMER_BOOTTIME && timers->boottime < 0) {
                timers->boottime = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
                if (timers->boottime >= 0)
                        g_source_add_unix_fd(&timers->source, timers->boottime, G_IO_IN);
        }

        *timer = (Timer){
                .timers = timers, .clock = clock, .deadline = deadline, .callback = callback, .userdata = userdata
        };
        g_array_set_size(heap, heap->len + 1);
        heap_rise(heap, heap->len - 1, (Entry){ timer->deadline, timers->next_serial++, timer });
        return timer;
}

Timer *timer_new_at(Timers *timers, uint64_t deadline, TimerCallback callback, void *userdata) {
        return timer_new_on(timers, TIMER_MONOTONIC, deadline, callback, userdata);
}

Timer *timer_new(Timers *timers, uint64_t usec, TimerCallback callback, void *userdata) {
        uint64_t now = timers_now(timers, TIMER_MONOTONIC);

        return timer_new_at(timers, usec < UINT64_MAX - now ? now + usec : UINT64_MAX, callback, userdata);
}

void timer_free(Timer *timer) {
        if (!timer)
                return;

        if (timer->position != POSITION_NONE)
                heap_remove(timer);
        g_free(timer);
}

uint64_t timer_deadline(const Timer *timer) {
        return timer->deadline;
}
