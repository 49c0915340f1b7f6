/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: counts the system calls for files and sockets in the file that COUNT_CALLS names, as two
 * numbers of eight bytes: those of the main thread, and those of all others. How often a thread waits, and finds
 * nothing to read, depends on what else the machine does; that is not counted. A third number says for how many
 * milliseconds at most the main thread waits for events now, or did last; the largest possible number: without a limit.
 */

/* Both names of a function are to be defined here. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

static _Atomic uint64_t none[3], *_Atomic counts = none;

__attribute__((constructor)) static void open_counts(void) {
        const char *path = getenv("COUNT_CALLS");
        int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
        void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(none), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

        if (memory != MAP_FAILED)
                counts = memory;
        close(fd);
}

static void count(int64_t result) {
        if (result >= 0 || errno != EAGAIN)
                atomic_fetch_add(&counts[gettid() != getpid()], 1);
}

static void note_wait(int64_t msec) {
        if (gettid() == getpid())
                atomic_store(&counts[2], msec < 0 ? UINT64_MAX : (uint64_t) msec);
}

static int64_t msec_of(const struct timespec *time) {
        return time ? time->tv_sec * INT64_C(1000) + time->tv_nsec / 1000000 : -1;
}

#define VISIBLE __attribute__((visibility("default")))
#define INTERPOSED(type, name, parameters, arguments, before, after)                                                   \
        VISIBLE type name parameters;                                                                                  \
        VISIBLE type name parameters {                                                                                 \
                static type(*real) parameters;                                                                         \
                type r;                                                                                                \
                                                                                                                       \
                if (!real)                                                                                             \
                        real = (type(*) parameters) dlsym(RTLD_NEXT, #name);                                           \
                before;                                                                                                \
                r = real arguments;                                                                                    \
                after;                                                                                                 \
                return r;                                                                                              \
        }
#define COUNTED(type, name, parameters, arguments) INTERPOSED(type, name, parameters, arguments, (void) 0, count(r))
#define WAITING(type, name, parameters, arguments, msec)                                                               \
        INTERPOSED(type, name, parameters, arguments, note_wait(msec), (void) 0)

WAITING(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), timeout)
WAITING(int, __poll_chk, (struct pollfd * fds, nfds_t n, int timeout, size_t size), (fds, n, timeout, size), timeout)
WAITING(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals),
        (fds, n, timeout, signals), msec_of(timeout))
WAITING(int, __ppoll_chk,
        (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals, size_t size),
        (fds, n, timeout, signals, size), msec_of(timeout))
COUNTED(ssize_t, read, (int fd, void *buffer, size_t n), (fd, buffer, n))
COUNTED(ssize_t, __read_chk, (int fd, void *buffer, size_t n, size_t size), (fd, buffer, n, size))
COUNTED(ssize_t, write, (int fd, const void *buffer, size_t n), (fd, buffer, n))
COUNTED(ssize_t, recv, (int fd, void *buffer, size_t n, int flags), (fd, buffer, n, flags))
COUNTED(ssize_t, __recv_chk, (int fd, void *buffer, size_t n, size_t size, int flags), (fd, buffer, n, size, flags))
COUNTED(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
COUNTED(ssize_t, send, (int fd, const void *buffer, size_t n, int flags), (fd, buffer, n, flags))
COUNTED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
COUNTED(off_t, lseek, (int fd, off_t offset, int from), (fd, offset, from))
COUNTED(off64_t, lseek64, (int fd, off64_t offset, int from), (fd, offset, from))
COUNTED(int, close, (int fd), (fd))
COUNTED(int, rename, (const char *from, const char *to), (from, to))
COUNTED(int, unlink, (const char *path), (path))
COUNTED(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
COUNTED(int, timerfd_settime, (int fd, int flags, const struct itimerspec *now, struct itimerspec *before),
        (fd, flags, now, before))
COUNTED(int, fstat, (int fd, struct stat *st), (fd, st))
COUNTED(int, fstat64, (int fd, struct stat64 *st), (fd, st))
COUNTED(int, stat, (const char *path, struct stat *st), (path, st))
COUNTED(int, stat64, (const char *path, struct stat64 *st), (path, st))

VISIBLE int ioctl(int fd, unsigned long request, ...) {
        static int (*real)(int, unsigned long, ...);
        void *argument;
        va_list args;
        int r;

        if (!real)
                real = (int (*)(int, unsigned long, ...)) dlsym(RTLD_NEXT, "ioctl");
        va_start(args, request);
        argument = va_arg(args, void *);
        va_end(args);
        r = real(fd, request, argument);
        count(r);
        return r;
}

#define COUNTED_OPEN(name)                                                                                             \
        VISIBLE int name(const char *path, int flags, ...) {                                                           \
                static int (*real)(const char *, int, ...);                                                            \
                mode_t mode = 0;                                                                                       \
                va_list args;                                                                                          \
                int r;                                                                                                 \
                                                                                                                       \
                if (!real)                                                                                             \
                        real = (int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, #name);                              \
                if (flags & O_CREAT) {                                                                                 \
                        va_start(args, flags);                                                                         \
                        mode = va_arg(args, mode_t);                                                                   \
                        va_end(args);                                                                                  \
                }                                                                                                      \
                r = real(path, flags, mode);                                                                           \
                count(r);                                                                                              \
                return r;                                                                                              \
        }

COUNTED_OPEN(open)
COUNTED_OPEN(open64)
