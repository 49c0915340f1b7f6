/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements mapped-end.h. */

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "record/mapped-end.h"

MappedEnd *mapped_end_new(int fd, uint64_t size, size_t room) {
        uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), begin = size / page * page;
        size_t length = (size_t) ((size + room - begin + page - 1) / page * page);
        struct statfs fs;
        MappedEnd *end;
        void *bytes;

        /* Other file systems may be full when a page is written, though it was allocated: that would raise SIGBUS. */
        if (fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC || fallocate(fd, 0, (off_t) begin, (off_t) length) < 0)
                return NULL;

        bytes = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t) begin);
        if (bytes == MAP_FAILED) {
                (void) !ftruncate(fd, (off_t) size);
                return NULL;
        }

        end = g_new(MappedEnd, 1);
        *end = (MappedEnd){ .fd = fd, .size = size, .begin = begin, .bytes = bytes, .length = length };
        return end;
}

void mapped_end_free(MappedEnd *end) {
        if (!end)
                return;

        (void) munmap(end->bytes, end->length);
        (void) !ftruncate(end->fd, (off_t) end->size);
        g_free(end);
}

bool mapped_end_append(MappedEnd *end, const char *bytes, size_t n) {
        char *to = end->bytes + (end->size - end->begin);

        if (end->size - end->begin + n > end->length)
                return false;

        memcpy(to + 1, bytes + 1, n - 1);
        __atomic_store_n(to, bytes[0], __ATOMIC_RELEASE);
        end->size += n;
        return true;
}
