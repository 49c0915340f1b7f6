/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls write(2) again and again until all is written. */

#include <errno.h>
#include <unistd.h>

#include "basic/write-all.h"

int write_all(int fd, const void *bytes, size_t n) {
        const char *next = bytes;

        while (n > 0) {
                ssize_t written = write(fd, next, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;

                next += written;
                n -= (size_t) written;
        }

        return 0;
}
