/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements record-summary.h. All short members are at the beginning of the first line; the last line has the
 * result. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cause.h"
#include "basic/cleanup.h"
#include "record/entry.h"
#include "record/record-header.h"
#include "record/record-summary.h"

/* Bytes to read at first. Only a very long cause needs more. */
#define PIECE 8192u

static int fail(const char *path, int r, char **ret_error) {
        *ret_error = g_strdup_printf("%s cannot be read: %s", path, g_strerror(-r));
        return r;
}

static int read_piece(int fd, uint64_t offset, size_t size, GString *ret_piece) {
        g_string_set_size(ret_piece, size);
        for (size_t n = 0; n < size;) {
                ssize_t got = pread(fd, ret_piece->str + n, size - n, (off_t) (offset + n));

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -errno;
                if (got == 0) {
                        g_string_truncate(ret_piece, n);
                        return 0;
                }
                n += (size_t) got;
        }

        return 0;
}

/* Reads the last complete line, without its end, and the checksum of the line before it. Empty: there is only the
 * header. */
static int read_last_line(int fd, uint64_t size, GString *piece, const char **ret_line, size_t *ret_length,
                          uint32_t *ret_before) {
        for (size_t want = MIN(size, PIECE);; want = MIN(size, want * 8)) {
                const char *end, *before;
                size_t length;
                int r;

                r = read_piece(fd, size - want, want, piece);
                if (r < 0)
                        return r;

                end = memrchr(piece->str, '\n', piece->len);
                before = end ? memrchr(piece->str, '\n', (size_t) (end - piece->str)) : NULL;
                *ret_line = before ? before + 1 : piece->str;
                *ret_length = before ? (size_t) (end - *ret_line) : 0;
                if (before && !entry_read_checksum(piece->str, (size_t) (before - piece->str), &length, ret_before))
                        *ret_before = 0;
                if (before || want == size)
                        return 0;
        }
}

static void take_header(RecordSummary *summary, RecordHeader *header) {
        *summary = (RecordSummary){
                .run = g_steal_pointer(&header->run),
                .tree = g_steal_pointer(&header->tree),
                .instance = g_steal_pointer(&header->instance),
                .token = g_steal_pointer(&header->token),
                .status = g_strdup("running"),
                .cause = g_strdup(""),
                .started = header->started,
                .finished = header->started,
        };
}

static json_object *detail(const Entry *entry, const char *name) {
        json_object *value = NULL;

        if (entry->details)
                json_object_object_get_ex(entry->details, name, &value);

        return value;
}

static void take_last_entry(RecordSummary *summary, const Entry *entry) {
        g_autoptr(Cause) cause = NULL;
        const char *status;

        summary->finished = summary->started + entry->time;
        if (entry->kind != ENTRY_FINISHED)
                return;

        status = json_object_get_string(detail(entry, "status"));
        cause = cause_from_json(detail(entry, "cause"));
        g_free(summary->status);
        g_free(summary->cause);
        summary->status = g_strdup(status ?: "?");
        summary->cause = g_strdup(cause && cause->text ? cause->text : "");
}

static int read_summary(int fd, uint64_t size, RecordSummary *summary, char **ret_error) {
        g_autoptr(GString) piece = g_string_new(NULL);
        g_auto(RecordHeader) header = {};
        g_auto(Entry) entry = {};
        EntryChain chain = { .alone = true };
        g_autofree char *error = NULL;
        const char *line;
        size_t length;
        int r;

        r = read_piece(fd, 0, MIN(size, PIECE), piece);
        if (r < 0)
                return r;
        r = record_header_parse_start(piece->str, piece->len, &header, ret_error);
        if (r < 0)
                return r;

        take_header(summary, &header);
        r = read_last_line(fd, size, piece, &line, &length, &chain.last);
        if (r < 0)
                return r;
        if (length > 0 && entry_parse(line, length, &chain, &entry, &error) >= 0)
                take_last_entry(summary, &entry);

        return 0;
}

int record_summary_read(const char *path, RecordSummary *ret_summary, char **ret_error) {
        g_auto(AutoFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        g_auto(RecordSummary) summary = {};
        g_autofree char *error = NULL;
        struct stat st;
        int r;

        if (fd < 0 || fstat(fd, &st) < 0)
                return fail(path, -errno, ret_error);

        r = read_summary(fd, (uint64_t) st.st_size, &summary, &error);
        if (r < 0 && !error)
                return fail(path, r, ret_error);
        if (r < 0) {
                *ret_error = g_steal_pointer(&error);
                return r;
        }

        *ret_summary = summary;
        summary = (RecordSummary){};
        return 0;
}

void record_summary_clear(RecordSummary *summary) {
        g_free(summary->run);
        g_free(summary->tree);
        g_free(summary->instance);
        g_free(summary->token);
        g_free(summary->status);
        g_free(summary->cause);
        *summary = (RecordSummary){};
}
