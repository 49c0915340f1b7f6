/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * To be preloaded into btd: a disk that hangs, or fails. While there is a FIFO of the name that SLOW_DISK says,
 * whatever is to be on the disk for certain waits until somebody writes into it. If there is a file instead, it fails
 * with EIO.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: the disk is as it should be. */
static int wait_for_disk(void) {
        const char *path = getenv("SLOW_DISK");
        struct stat st;

        while (path && stat(path, &st) >= 0) {
                ssize_t n = 0;
                char byte;
                int fd;

                if (!S_ISFIFO(st.st_mode)) {
                        errno = EIO;
                        return -1;
                }

                /* Whoever only looks whether it is waited for writes nothing. */
                fd = open(path, O_RDONLY | O_CLOEXEC);
                if (fd >= 0) {
                        n = read(fd, &byte, 1);
                        close(fd);
                }
                if (n > 0)
                        break;
        }

        return 0;
}

#define SLOW(name)                                                                                                     \
        __attribute__((visibility("default"))) int name(int fd) {                                                      \
                static int (*real)(int);                                                                               \
                                                                                                                       \
                if (!real)                                                                                             \
                        real = (int (*)(int)) dlsym(RTLD_NEXT, #name);                                                 \
                return wait_for_disk() < 0 ? -1 : real(fd);                                                            \
        }

SLOW(fsync)
SLOW(fdatasync)
SLOW(syncfs)
