/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Calls write(2) and pread(2) again and again until all is written. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/write-all.h"

#define PIECE (UINT64_C(64) << 10)

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

ssize_t read_all(int fd, uint64_t offset, void *ret_bytes, size_t n) {
        size_t done = 0;

        while (done < n) {
                ssize_t got = pread(fd, (char *) ret_bytes + done, n - done, (off_t) (offset + done));

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                if (got == 0)
                        break;
                done += (size_t) got;
        }

        return (ssize_t) done;
}

int copy_bytes(int from, uint64_t offset, uint64_t size, int to) {
        g_autofree char *piece = g_malloc(PIECE);

        for (uint64_t done = 0; done < size;) {
                ssize_t n = read_all(from, offset + done, piece, MIN(size - done, PIECE));
                int r;

                if (n <= 0)
                        return n < 0 ? (int) n : size == UINT64_MAX ? 0 : -EIO;

                r = write_all(to, piece, (size_t) n);
                if (r < 0)
                        return r;
                done += (uint64_t) n;
        }

        return 0;
}

int copy_file(const char *from, const char *to, uint64_t max) {
        g_auto(AutoFd) in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        g_auto(AutoFd) out = -1;
        off_t size = in < 0 ? -1 : lseek(in, 0, SEEK_END);
        int r;

        if (size < 0)
                return -errno;
        if ((uint64_t) size > max)
                return -EFBIG;

        out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        r = out < 0 ? -errno : copy_bytes(in, 0, UINT64_MAX, out);
        if (r < 0 && out >= 0)
                (void) unlink(to);
        return r;
}
