/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One write() for all records that belong together. */

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/limit.h"
#include "journal/journal-writer.h"

struct JournalWriter {
        char *path;
        int fd; /* -1: it has failed */
        uint64_t size;
        GString *pending;
};

static int write_all(int fd, const char *bytes, size_t n) {
        while (n > 0) {
                ssize_t written = write(fd, bytes, n);

                if (written < 0 && errno == EINTR)
                        continue;
                if (written < 0)
                        return -errno;

                bytes += written;
                n -= (size_t) written;
        }

        return 0;
}

static int fail(JournalWriter *writer, int r, const char *why, char **ret_error) {
        *ret_error = g_strdup_printf("%s %s", writer->path, why);
        close(writer->fd);
        writer->fd = -1;
        g_string_truncate(writer->pending, 0);
        unlink(writer->path);
        return r;
}

/* It is kept in memory, and read as a whole when the daemon comes back. */
static uint64_t size_max(void) {
        return (uint64_t) limits_in_force(LIMIT_JOURNAL) * 1024;
}

static int fail_for_size(JournalWriter *writer, char **ret_error) {
        g_autofree char *size = limit_size_text(limits_in_force(LIMIT_JOURNAL));
        g_autofree char *why = g_strdup_printf("has become larger than %s", size);

        return fail(writer, -EFBIG, why, ret_error);
}

static JournalWriter *writer_new(const char *path, int fd, uint64_t size) {
        JournalWriter *writer = g_new0(JournalWriter, 1);

        *writer = (JournalWriter){ .path = g_strdup(path), .fd = fd, .size = size, .pending = g_string_new(NULL) };
        return writer;
}

static int open_file(const char *path, int flags, int *ret_fd, char **ret_error) {
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

        if (fd < 0) {
                int r = -errno;

                *ret_error = g_strdup_printf("%s cannot be opened: %s", path, g_strerror(-r));
                return r;
        }

        *ret_fd = fd;
        return 0;
}

int journal_writer_create(const char *path, const JournalHeader *header, JournalWriter **ret_writer, char **ret_error) {
        g_autoptr(JournalWriter) writer = NULL;
        int fd = -1, r;

        r = open_file(path, O_CREAT | O_EXCL, &fd, ret_error);
        if (r < 0)
                return r;

        writer = writer_new(path, fd, 0);
        journal_header_append(writer->pending, header);
        r = journal_writer_flush(writer, ret_error);
        if (r < 0)
                return r;

        *ret_writer = g_steal_pointer(&writer);
        return 0;
}

int journal_writer_resume(const char *path, uint64_t size, JournalWriter **ret_writer, char **ret_error) {
        g_auto(AutoFd) fd = -1;
        int r;

        r = open_file(path, 0, &fd, ret_error);
        if (r < 0)
                return r;
        if (ftruncate(fd, (off_t) size) < 0) {
                r = -errno;
                *ret_error = g_strdup_printf("%s cannot be written: %s", path, g_strerror(-r));
                return r;
        }

        *ret_writer = writer_new(path, fd, size);
        fd = -1;
        return 0;
}

void journal_writer_free(JournalWriter *writer) {
        g_autofree char *error = NULL;

        if (!writer)
                return;

        journal_writer_flush(writer, &error);
        if (writer->fd >= 0)
                close(writer->fd);
        g_string_free(writer->pending, true);
        g_free(writer->path);
        g_free(writer);
}

void journal_writer_add(JournalWriter *writer, const Record *record) {
        record_append(writer->pending, record);
}

GString *journal_writer_text(JournalWriter *writer) {
        return writer->pending;
}

int journal_writer_flush(JournalWriter *writer, char **ret_error) {
        int r;

        if (writer->fd < 0)
                g_string_truncate(writer->pending, 0);
        if (writer->pending->len == 0)
                return 0;

        if (writer->size + writer->pending->len > size_max())
                return fail_for_size(writer, ret_error);

        r = write_all(writer->fd, writer->pending->str, writer->pending->len);
        if (r < 0) {
                g_autofree char *why = g_strdup_printf("cannot be written: %s", g_strerror(-r));

                return fail(writer, r, why, ret_error);
        }

        writer->size += writer->pending->len;
        g_string_truncate(writer->pending, 0);
        return 0;
}

const char *journal_writer_path(const JournalWriter *writer) {
        return writer->path;
}

uint64_t journal_writer_size(const JournalWriter *writer) {
        return writer->size;
}
