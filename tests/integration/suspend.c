/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: for it, the machine is suspended while it runs. Each line that is written into the pipe
 * $BTD_TEST_SUSPEND says for how many microseconds it was suspended in all, of which only CLOCK_BOOTTIME takes notice.
 * As in the kernel, a timer by that clock that is due expires when the machine is resumed, and nothing else wakes up a
 * process that waits.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NSEC_PER_SEC 1000000000LL

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long long suspended; /* nanoseconds */
static int boottime_fd = -1;
static struct itimerspec boottime_at;

static long long nsec_of(struct timespec time) {
        return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

static struct timespec timespec_of(long long nsec) {
        return (struct timespec){ .tv_sec = nsec / NSEC_PER_SEC, .tv_nsec = nsec % NSEC_PER_SEC };
}

static int arm(void) {
        struct itimerspec at = boottime_at;
        long long left = nsec_of(at.it_value) - suspended;

        /* 0 would disarm it. */
        if (nsec_of(at.it_value) > 0)
                at.it_value = timespec_of(left > 0 ? left : 1);
        return (int) syscall(SYS_timerfd_settime, boottime_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void *listen_to_pipe(void *path) {
        char line[64];
        FILE *pipe = fopen(path, "r+e");

        while (pipe && fgets(line, sizeof(line), pipe)) {
                pthread_mutex_lock(&mutex);
                suspended = atoll(line) * 1000;
                (void) arm();
                pthread_mutex_unlock(&mutex);
        }

        return NULL;
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ret_time) {
        int r = (int) syscall(SYS_clock_gettime, id, ret_time);

        if (r >= 0 && id == CLOCK_BOOTTIME) {
                pthread_mutex_lock(&mutex);
                *ret_time = timespec_of(nsec_of(*ret_time) + suspended);
                pthread_mutex_unlock(&mutex);
        }
        return r;
}

EXPORT int timerfd_create(int id, int flags) {
        int fd = (int) syscall(SYS_timerfd_create, id, flags);
        pthread_t thread;

        if (id == CLOCK_BOOTTIME && boottime_fd < 0) {
                boottime_fd = fd;
                if (pthread_create(&thread, NULL, listen_to_pipe, getenv("BTD_TEST_SUSPEND")) == 0)
                        (void) pthread_detach(thread);
        }
        return fd;
}

EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *at, struct itimerspec *ret_before) {
        int r;

        if (fd != boottime_fd)
                return (int) syscall(SYS_timerfd_settime, fd, flags, at, ret_before);

        pthread_mutex_lock(&mutex);
        boottime_at = *at;
        r = arm();
        pthread_mutex_unlock(&mutex);
        return r;
}
