/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd and btctl, so that tests see the end of a time without waiting that long: their clocks are
 * $CLOCK_FACTOR times as fast as those of the machine, and ahead by as many nanoseconds as the file $CLOCK_AHEAD has as
 * a number of eight bytes. Processes with the same factor and file read the same time. If the file changes, a process
 * that waits notices only when something else wakes it up.
 */

/* Both names of a function are to be defined here. */
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NSEC_PER_SEC INT64_C(1000000000)

static double factor = 1;
static int64_t none;
static const volatile int64_t *ahead = &none;

__attribute__((constructor)) static void open_clock(void) {
        const char *text = getenv("CLOCK_FACTOR"), *path = getenv("CLOCK_AHEAD");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(none), PROT_READ, MAP_SHARED, fd, 0);

        if (text && atof(text) > 0)
                factor = atof(text);
        if (memory != MAP_FAILED)
                ahead = memory;
        close(fd);
}

static int64_t nsec_of(struct timespec time) {
        return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static struct timespec timespec_of(int64_t nsec) {
        return (struct timespec){ .tv_sec = nsec / NSEC_PER_SEC, .tv_nsec = nsec % NSEC_PER_SEC };
}

/* Rounded up, so that only 0 is 0. */
static struct timespec real_span(struct timespec span) {
        return timespec_of((int64_t) ceil((double) nsec_of(span) / factor));
}

/* When the clock of the machine shows what ours shows then. */
static struct timespec real_time(struct timespec time) {
        int64_t nsec = nsec_of(time) - *ahead;

        return real_span(timespec_of(nsec > 0 ? nsec : 1));
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ret_time) {
        int r = (int) syscall(SYS_clock_gettime, id, ret_time);

        if (r >= 0 && (id == CLOCK_MONOTONIC || id == CLOCK_BOOTTIME))
                *ret_time = timespec_of((int64_t) ((double) nsec_of(*ret_time) * factor) + *ahead);
        return r;
}

static int wait_for(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals) {
        struct timespec left;

        if (timeout)
                left = real_span(*timeout);
        return (int) syscall(SYS_ppoll, fds, n, timeout ? &left : NULL, signals, (size_t) _NSIG / CHAR_BIT);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout) {
        struct timespec time = timespec_of(timeout * (NSEC_PER_SEC / 1000));

        return wait_for(fds, n, timeout < 0 ? NULL : &time, NULL);
}

EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals) {
        return wait_for(fds, n, timeout, signals);
}

EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size) {
        (void) size;
        return poll(fds, n, timeout);
}

EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals,
                       size_t size);
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals,
                       size_t size) {
        (void) size;
        return ppoll(fds, n, timeout, signals);
}

/* All condition variables of btd with a limit of time use CLOCK_MONOTONIC. */
EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until) {
        struct timespec at = real_time(*until);

        return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &at);
}

/* btd uses none that repeat. */
EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *ret_before) {
        struct itimerspec given = { .it_value = at->it_value };

        if (nsec_of(at->it_value) > 0)
                given.it_value = flags & TFD_TIMER_ABSTIME ? real_time(at->it_value) : real_span(at->it_value);
        return (int) syscall(SYS_timerfd_settime, fd, flags, &given, ret_before);
}
