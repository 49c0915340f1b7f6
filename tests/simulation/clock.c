/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Defines the clocks of the C library. GLib and sd-bus use these, too, because the linker searches the program first.
 */

#include <glib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

/* The offset of CLOCK_REALTIME to CLOCK_BOOTTIME: a day in 2026. */
#define REAL_OFFSET (UINT64_C(1780000000) * 1000000)

static uint64_t now, suspended, wall_offset;
static uint64_t step, lua_time; /* while Lua runs */

/* The timer of CLOCK_BOOTTIME: when it expires, an event is written to fd. */
static struct {
        int fd;      /* -1: there is none */
        uint64_t at; /* UINT64_MAX: it is not armed */
} alarm_clock = { -1, UINT64_MAX };

static struct timespec timespec_of(uint64_t usec) {
        return (struct timespec){ .tv_sec = (time_t) (usec / 1000000), .tv_nsec = (long) (usec % 1000000 * 1000) };
}

int clock_gettime(clockid_t id, struct timespec *ret_time) {
        if (now == 0)
                return (int) syscall(SYS_clock_gettime, id, ret_time);

        if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
                *ret_time = timespec_of(wall_offset + now + suspended);
        else
                *ret_time = timespec_of((id == CLOCK_BOOTTIME ? now + suspended : now) + (lua_time += step));
        return 0;
}

int timerfd_create(int id, int flags) {
        alarm_clock.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        alarm_clock.at = UINT64_MAX;
        return alarm_clock.fd;
}

static void ring(void) {
        if (alarm_clock.at > now + suspended)
                return;

        alarm_clock.at = UINT64_MAX;
        (void) eventfd_write(alarm_clock.fd, 1);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *ret_before) {
        uint64_t usec = (uint64_t) at->it_value.tv_sec * 1000000 + (uint64_t) at->it_value.tv_nsec / 1000;
        eventfd_t events;

        (void) eventfd_read(fd, &events);
        alarm_clock.at = at->it_value.tv_sec > 0 || at->it_value.tv_nsec > 0 ? usec : UINT64_MAX;
        ring();
        return 0;
}

void clock_forget_timer(void) {
        alarm_clock.fd = -1;
        alarm_clock.at = UINT64_MAX;
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

void clock_begin(uint64_t usec) {
        now = usec;
        suspended = 0;
        wall_offset = REAL_OFFSET;
}

void clock_set(uint64_t usec) {
        now = usec;
        ring();
}

void clock_suspend(uint64_t usec) {
        suspended += usec;
        ring();
}

uint64_t clock_suspended(void) {
        return suspended;
}

void clock_begin_lua(uint64_t usec) {
        step = usec;
        lua_time = 0;
}

void clock_end_lua(void) {
        step = lua_time = 0;
}

uint64_t clock_wall(void) {
        struct timespec time;

        (void) clock_gettime(CLOCK_REALTIME, &time);
        return (uint64_t) time.tv_sec * 1000000 + (uint64_t) time.tv_nsec / 1000;
}

void clock_jump(int64_t usec) {
        wall_offset = (uint64_t) MAX((int64_t) wall_offset + usec, 0);
}

void clock_forget_date(void) {
        wall_offset = 0;
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
