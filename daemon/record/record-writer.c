/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements record-writer.h. Entries that belong together are written with one write(), or are copied to the mapped
 * end of the file, if the run has many inputs.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/write-all.h"
#include "record/mapped-end.h"
#include "record/record-writer.h"
#include "record/secret-file.h"

/* A run record has at most two parts, but large snapshots make parts longer. */
#define PARTS 16u

/* A header can be long, so its buffer is not kept. */
#define SPARE_MAX (UINT64_C(64) << 10)

/* A record with fewer bytes of entries is not mapped, so that a short run needs few system calls. */
#define MAPPED_FROM (UINT64_C(16) << 10)
/* The room that is mapped: a share of the record, within these bounds. */
#define ROOM_SHARE 4u
#define ROOM_MIN (UINT64_C(8) << 10)
#define ROOM_MAX (UINT64_C(32) << 10)

static uint64_t part; /* 0: derived from the size limit */
/* A run has pending entries only while it processes an input, so all runs share this buffer, unless one of them
 * triggers another. */
static GString *spare;

struct RecordWriter {
        char *path;
        int fd;           /* -1: it has failed */
        uint32_t max_kib; /* the size limit */
        uint64_t size;
        uint64_t body;      /* offset of the first entry */
        uint64_t newest;    /* offset of the newest snapshot, or 0 */
        uint64_t next_part; /* from this size on, a snapshot is due */
        MappedEnd *end;     /* NULL: it is not mapped */
        GString *pending;   /* NULL: no entry is pending */
        SummedText *files;  /* belong into pending, but are not copied because they can be long; NULL: none */
        size_t files_at;    /* their offset in pending */
        EntryChain chain;
        bool open;   /* the last entry has no end yet, because only the next one, or the flush, says which it has */
        size_t line; /* offset in pending of this entry */
        EntryKind kind;
        bool has_secrets; /* a file of them may be there */
};

/* The run record is limited, because it is in a file system in memory, and the next daemon reads it as a whole. */
static uint64_t size_max(const RecordWriter *writer) {
        return (uint64_t) writer->max_kib * 1024;
}

static uint64_t part_size(const RecordWriter *writer) {
        return part > 0 ? part : size_max(writer) / PARTS;
}

static GString *pending_of(RecordWriter *writer) {
        if (!writer->pending)
                writer->pending = g_steal_pointer(&spare) ?: g_string_new(NULL);

        return writer->pending;
}

static void drop_pending(RecordWriter *writer) {
        GString *pending = g_steal_pointer(&writer->pending);

        g_clear_pointer(&writer->files, summed_text_free);
        writer->open = false;
        if (!pending)
                return;

        if (spare || pending->allocated_len > SPARE_MAX) {
                g_string_free(pending, true);
                return;
        }

        g_string_truncate(pending, 0);
        spare = pending;
}

static size_t pending_size(const RecordWriter *writer) {
        return writer->pending->len + (writer->files ? writer->files->length : 0);
}

/* Copies the pending entries to the mapped end of the file, which is made if it is worth it. False: use write(). */
static bool append_mapped(RecordWriter *writer) {
        const GString *pending = writer->pending;
        uint64_t room = CLAMP(writer->size / ROOM_SHARE, ROOM_MIN, ROOM_MAX);

        if (writer->end && mapped_end_append(writer->end, pending->str, pending->len))
                return true;

        g_clear_pointer(&writer->end, mapped_end_free);
        if (writer->size < writer->body + MIN(MAPPED_FROM, part_size(writer)))
                return false;

        writer->end = mapped_end_new(writer->fd, writer->size, pending->len + room);
        return writer->end && mapped_end_append(writer->end, pending->str, pending->len);
}

static int write_pending(RecordWriter *writer) {
        const GString *pending = writer->pending;
        struct iovec parts[3];
        size_t written;
        ssize_t n;
        int r = 0;

        if (!writer->files && append_mapped(writer))
                return 0;
        if (!writer->files)
                return write_all(writer->fd, pending->str, pending->len);

        parts[0] = (struct iovec){ pending->str, writer->files_at };
        parts[1] = (struct iovec){ writer->files->text, writer->files->length };
        parts[2] = (struct iovec){ pending->str + writer->files_at, pending->len - writer->files_at };
        do
                n = writev(writer->fd, parts, G_N_ELEMENTS(parts));
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;

        written = (size_t) n;
        for (size_t i = 0; r >= 0 && i < G_N_ELEMENTS(parts); i++) {
                size_t of_part = MIN(written, parts[i].iov_len);

                r = write_all(writer->fd, (const char *) parts[i].iov_base + of_part, parts[i].iov_len - of_part);
                written -= of_part;
        }
        return r;
}

static int fail(RecordWriter *writer, int r, const char *why, char **ret_error) {
        *ret_error = g_strdup_printf("%s %s", writer->path, why);
        g_clear_pointer(&writer->end, mapped_end_free);
        close(writer->fd);
        writer->fd = -1;
        drop_pending(writer);
        unlink(writer->path);
        record_writer_drop_secrets(writer);
        return r;
}

static RecordWriter *writer_new(const char *path, int fd, uint64_t size, uint32_t max_kib) {
        RecordWriter *writer = g_new0(RecordWriter, 1);

        *writer = (RecordWriter){
                .path = g_strdup(path),
                .fd = fd,
                .size = size,
                .max_kib = max_kib,
        };
        return writer;
}

static int open_file(const char *path, int flags, int *ret_fd, char **ret_error) {
        int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

        if (fd < 0) {
                int r = -errno;

                *ret_error = g_strdup_printf("%s cannot be opened: %s", path, g_strerror(-r));
                return r;
        }

        *ret_fd = fd;
        return 0;
}

int record_writer_create(const char *path, RecordHeader *header, const Limits *limits, RecordWriter **ret_writer,
                         char **ret_error) {
        RecordWriter *writer;
        int fd = -1, r;

        r = open_file(path, O_CREAT | O_EXCL, &fd, ret_error);
        if (r < 0)
                return r;

        header->record_kib = limits->max[LIMIT_RECORD];
        writer = writer_new(path, fd, 0, header->record_kib);
        writer->files = g_steal_pointer(&header->files_text);
        writer->chain.header = writer->files ? record_header_append_around(pending_of(writer), header, writer->files,
                                                                           &writer->files_at)
                                             : record_header_append(pending_of(writer), header);
        writer->chain.last = writer->chain.header;
        writer->body = pending_size(writer);
        writer->next_part = writer->body + part_size(writer);
        *ret_writer = writer;
        return 0;
}

int record_writer_resume(const char *path, const RunRecord *record, RecordWriter **ret_writer, char **ret_error) {
        RecordWriter *writer;
        g_auto(AutoFd) fd = -1;
        int r;

        r = open_file(path, 0, &fd, ret_error);
        if (r < 0)
                return r;
        if (ftruncate(fd, (off_t) record->size) < 0) {
                r = -errno;
                *ret_error = g_strdup_printf("%s cannot be written: %s", path, g_strerror(-r));
                return r;
        }

        writer = writer_new(path, fd, record->size, record->header.record_kib);
        writer->body = record->body;
        writer->newest = record->newest;
        writer->chain = record->chain;
        writer->next_part = (record->newest > 0 ? record->newest : record->body) + part_size(writer);
        fd = -1;
        *ret_writer = writer;
        return 0;
}

void record_writer_free(RecordWriter *writer) {
        g_autofree char *error = NULL;

        if (!writer)
                return;

        record_writer_flush(writer, &error);
        g_clear_pointer(&writer->end, mapped_end_free);
        if (writer->fd >= 0)
                close(writer->fd);
        drop_pending(writer);
        g_free(writer->path);
        g_free(writer);
}

static void end_line(RecordWriter *writer, bool more) {
        if (!writer->open)
                return;

        entry_end(writer->pending, writer->line, writer->kind, more, &writer->chain);
        writer->open = false;
}

void record_writer_add(RecordWriter *writer, const Entry *entry) {
        end_line(writer, false);
        entry_append(pending_of(writer), entry, &writer->chain);
}

GString *record_writer_begin(RecordWriter *writer, uint64_t time, EntryKind kind, NodeId node) {
        end_line(writer, true);
        writer->open = true;
        writer->kind = kind;
        writer->line = entry_begin(pending_of(writer), time, kind, node);
        return writer->pending;
}

int record_writer_flush(RecordWriter *writer, char **ret_error) {
        int r;

        end_line(writer, false);
        if (writer->fd < 0)
                drop_pending(writer);
        if (!writer->pending)
                return 0;

        if (writer->size + pending_size(writer) > size_max(writer)) {
                g_autofree char *size = limit_size_text(writer->max_kib),
                                *why = g_strdup_printf("has become larger than %s", size);

                return fail(writer, -EFBIG, why, ret_error);
        }

        r = write_pending(writer);
        if (r < 0) {
                g_autofree char *why = g_strdup_printf("cannot be written: %s", g_strerror(-r));

                return fail(writer, r, why, ret_error);
        }

        writer->size += pending_size(writer);
        drop_pending(writer);
        return 0;
}

bool record_writer_is_due(const RecordWriter *writer) {
        return writer->fd >= 0 && writer->size >= writer->next_part;
}

int record_writer_store_secrets(RecordWriter *writer, const GString *lines) {
        writer->has_secrets = true;
        return secret_file_write(writer->path, lines);
}

char *record_writer_read_secrets(RecordWriter *writer, uint64_t max) {
        char *lines = secret_file_read(writer->path, max);

        writer->has_secrets = lines;
        return lines;
}

void record_writer_drop_secrets(RecordWriter *writer) {
        if (writer->has_secrets)
                secret_file_remove(writer->path);
        writer->has_secrets = false;
}

void record_writer_set_part(uint64_t bytes) {
        part = bytes;
}

/* Removes the entries before the newest snapshot. On failure, the run record stays as it was, only larger. */
static void cut(RecordWriter *writer) {
        g_autofree char *path = g_strconcat(writer->path, RECORD_NEW_SUFFIX, NULL);
        g_auto(AutoFd) fd = -1;

        (void) unlink(path);
        fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 || copy_bytes(writer->fd, 0, writer->body, fd) < 0 ||
            copy_bytes(writer->fd, writer->newest, writer->size - writer->newest, fd) < 0 ||
            rename(path, writer->path) < 0) {
                (void) unlink(path);
                return;
        }

        g_clear_pointer(&writer->end, mapped_end_free);
        writer->size -= writer->newest - writer->body;
        writer->newest = writer->body;
        close(writer->fd);
        writer->fd = fd;
        fd = -1;
}

/* Space snapshots by at least their own size, or writing them would dominate. */
int record_writer_add_snapshot(RecordWriter *writer, const Entry *entry, char **ret_error) {
        int r = record_writer_flush(writer, ret_error);
        uint64_t begin = writer->size;

        if (r < 0)
                return r;

        if (writer->newest > writer->body) {
                cut(writer);
                begin = writer->size;
        }

        record_writer_add(writer, entry);
        r = record_writer_flush(writer, ret_error);
        if (r < 0)
                return r;

        writer->newest = begin;
        writer->next_part = MAX(writer->size, begin + 2 * (writer->size - begin)) + part_size(writer);
        return 0;
}

/* Removes old entries only if this saves much, so that daemons that stop often do not shorten the event log of a
 * run. */
int record_writer_close(RecordWriter *writer, const Entry *entry, char **ret_error) {
        g_autofree char *max = NULL;
        int r;

        if (writer->newest > writer->body && writer->size - writer->body >= part_size(writer))
                cut(writer);

        record_writer_add(writer, entry);
        if (writer->size + pending_size(writer) > size_max(writer)) {
                max = limit_size_text(writer->max_kib);
                *ret_error = g_strdup_printf("%s would become larger than %s", writer->path, max);
                r = -EFBIG;
        } else {
                r = write_pending(writer);
                if (r < 0)
                        *ret_error = g_strdup_printf("%s cannot be written: %s", writer->path, g_strerror(-r));
                else
                        writer->size += pending_size(writer);
        }

        g_clear_pointer(&writer->end, mapped_end_free);
        close(writer->fd);
        writer->fd = -1;
        drop_pending(writer);
        return r;
}

uint64_t record_writer_size(const RecordWriter *writer) {
        return writer->size;
}
