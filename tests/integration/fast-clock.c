/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: its clocks are $FAST_CLOCK times as fast as those of the machine, so that tests see the end
 * of a time without waiting that long. Each process with the same factor reads the same time.
 */

/* Both names of a function are to be defined here. */
#undef _FORTIFY_SOURCE
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NSEC_PER_SEC 1000000000LL

static long long factor(void) {
        const char *text = getenv("FAST_CLOCK");
        long long value = text ? atoll(text) : 1;

        return value > 0 ? value : 1;
}

static long long nsec_of(struct timespec time) {
        return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static struct timespec timespec_of(long long nsec) {
        return (struct timespec){ .tv_sec = nsec / NSEC_PER_SEC, .tv_nsec = nsec % NSEC_PER_SEC };
}

/* Not 0, which would mean "never" or "do not wait", except for 0. */
static struct timespec shortened(struct timespec time) {
        return timespec_of((nsec_of(time) + factor() - 1) / factor());
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ret_time) {
        int r = (int) syscall(SYS_clock_gettime, id, ret_time);

        if (r >= 0 && (id == CLOCK_MONOTONIC || id == CLOCK_BOOTTIME))
                *ret_time = timespec_of(nsec_of(*ret_time) * factor());
        return r;
}

static int wait_for(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals) {
        struct timespec left;

        if (timeout)
                left = shortened(*timeout);
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
        struct timespec at = shortened(*until);

        return pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &at);
}

EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *ret_before) {
        struct itimerspec real = { .it_interval = shortened(at->it_interval), .it_value = shortened(at->it_value) };

        return (int) syscall(SYS_timerfd_settime, fd, flags, &real, ret_before);
}
