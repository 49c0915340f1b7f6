/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: a disk that hangs when it is read. A file FILE for which there is a FIFO FILE.hangs is not
 * opened before somebody writes into that, nor is a watch of it added.
 */

/* Both names are to be defined here. */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static void wait_for_disk(int (*real)(const char *, int, ...), const char *path) {
        char fifo[4096], byte;
        struct stat st;
        int fd;

        (void) snprintf(fifo, sizeof(fifo), "%s.hangs", path);
        while (stat(fifo, &st) >= 0 && (fd = real(fifo, O_RDONLY | O_CLOEXEC)) >= 0) {
                /* Whoever only looks whether it is waited for writes nothing. */
                ssize_t n = read(fd, &byte, 1);

                close(fd);
                if (n > 0)
                        break;
        }
}

#define SLOW(name)                                                                                                     \
        __attribute__((visibility("default"))) int name(const char *path, int flags, ...) {                            \
                int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, #name);       \
                mode_t mode = 0;                                                                                       \
                va_list args;                                                                                          \
                                                                                                                       \
                if (flags & O_CREAT) {                                                                                 \
                        va_start(args, flags);                                                                         \
                        mode = va_arg(args, mode_t);                                                                   \
                        va_end(args);                                                                                  \
                }                                                                                                      \
                wait_for_disk(real, path);                                                                             \
                return real(path, flags, mode);                                                                        \
        }

SLOW(open)
SLOW(open64)

__attribute__((visibility("default"))) int inotify_add_watch(int fd, const char *path, uint32_t mask) {
        int (*real)(int, const char *, uint32_t) =
                (int (*)(int, const char *, uint32_t)) dlsym(RTLD_NEXT, "inotify_add_watch");

        wait_for_disk((int (*)(const char *, int, ...)) dlsym(RTLD_NEXT, "open"), path);
        return real(fd, path, mask);
}
