/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the past of a recovered run: the leaves that are still to be read, and what has happened, by time. */

#include <assert.h>

#include "run/past.h"

/* Limits count after this time, even if systemd has not answered. */
#define READING_USEC_MAX UINT64_C(10000000)

struct Past {
        Timers *timers;
        Timer *reading;
        void (*read)(void *userdata);
        void *userdata;
        unsigned n_unread;
        GArray *events; /* PastEvent */
};

static void read_until(Past *past, uint64_t usec) {
        timer_free(past->reading);
        past->reading = timer_new(past->timers, usec, past->read, past->userdata);
}

Past *past_new(Timers *timers, void (*read)(void *userdata), void *userdata) {
        Past *past = g_new(Past, 1);

        *past = (Past){
                .timers = timers,
                .read = read,
                .userdata = userdata,
                .events = g_array_new(FALSE, FALSE, sizeof(PastEvent)),
        };
        read_until(past, READING_USEC_MAX);
        return past;
}

void past_free(Past *past) {
        if (!past)
                return;

        timer_free(past->reading);
        g_array_unref(past->events);
        g_free(past);
}

void past_begin_reading(Past *past) {
        past->n_unread++;
}

void past_end_reading(Past *past) {
        assert(past->n_unread > 0);

        if (--past->n_unread == 0)
                read_until(past, 0);
}

void past_keep(Past *past, const PastEvent *event) {
        g_array_append_vals(past->events, event, 1);
}

static int compare(const void *a, const void *b) {
        const PastEvent *x = a, *y = b;

        return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->limit - y->limit;
}

const PastEvent *past_sort(Past *past, unsigned *ret_n) {
        g_array_sort(past->events, compare);
        *ret_n = past->events->len;
        return (const PastEvent *) (const void *) past->events->data;
}
