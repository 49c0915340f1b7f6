/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* GLib and sd-bus ask the time by these, too, and find them here, since a program comes before its libraries. */

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* Of CLOCK_REALTIME, over what counts from the start of the machine: a day in 2026. */
#define REAL_OFFSET (UINT64_C(1780000000) * 1000000)

static uint64_t now;

static struct timespec timespec_of(uint64_t usec) {
        return (struct timespec){ .tv_sec = (time_t) (usec / 1000000), .tv_nsec = (long) (usec % 1000000 * 1000) };
}

int clock_gettime(clockid_t id, struct timespec *ret_time) {
        if (now == 0)
                return (int) syscall(SYS_clock_gettime, id, ret_time);

        *ret_time = timespec_of(id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE ? REAL_OFFSET + now : now);
        return 0;
}

int gettimeofday(struct timeval *ret_time, void *zone) {
        struct timespec time;
        int r = clock_gettime(CLOCK_REALTIME, &time);

        *ret_time = (struct timeval){ .tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000 };
        return r;
}

uint64_t clock_now(void) {
        return now;
}

void clock_set(uint64_t usec) {
        now = usec;
}

static uint64_t ask_kernel(clockid_t id) {
        struct timespec time;

        (void) syscall(SYS_clock_gettime, id, &time);
        return (uint64_t) time.tv_sec * 1000000 + (uint64_t) time.tv_nsec / 1000;
}

uint64_t clock_real(void) {
        return ask_kernel(CLOCK_MONOTONIC);
}

uint64_t clock_processor(void) {
        return ask_kernel(CLOCK_PROCESS_CPUTIME_ID);
}
