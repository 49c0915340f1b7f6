/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <stdbool.h>
#include <time.h>

#include "stopped-clock.h"

static bool stopped;
static int64_t moved, stopped_at;

static int64_t real_time(void) {
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t) now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

/* These take the place of GLib's. GLib itself does not use them. */
gint64 g_get_monotonic_time(void) {
        return (stopped ? stopped_at : real_time()) + moved;
}

gint64 g_source_get_time(GSource *source) {
        return g_get_monotonic_time();
}

void clock_stop(void) {
        stopped_at = real_time();
        stopped = true;
}

void clock_move(int64_t usec) {
        moved += usec;
}

void clock_continue(void) {
        stopped = false;
}
