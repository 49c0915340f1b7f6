/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* To be preloaded: a disk that takes 300 ms for whatever has to be on it, as SD cards under load do. */

#include <time.h>
#include <unistd.h>

static int sync_slowly(void) {
        const struct timespec time = { .tv_nsec = 300000000 };

        return nanosleep(&time, NULL);
}

__attribute__((visibility("default"))) int fsync(int fd) {
        return sync_slowly();
}

__attribute__((visibility("default"))) int fdatasync(int fd) {
        return sync_slowly();
}

__attribute__((visibility("default"))) int syncfs(int fd) {
        return sync_slowly();
}
