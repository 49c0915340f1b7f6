/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a run record line by line, and distinguishes an incomplete one from a damaged one. */

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "record/run-record.h"

typedef struct Line {
        const char *text;
        size_t length;
        size_t next; /* offset of the next line */
        bool whole;  /* it has a line end */
} Line;

static Line line_at(const char *text, size_t length, size_t offset) {
        const char *start = text + offset, *end = memchr(start, '\n', length - offset);
        size_t n = end ? (size_t) (end - start) : length - offset;

        return (Line){
                .text = start,
                .length = n,
                .next = offset + n + (end ? 1 : 0),
                .whole = end,
        };
}

static int read_header(RunRecord *record, const char *text, size_t length, char **ret_error) {
        Line line = line_at(text, length, 0);
        int r;

        if (length == 0) {
                *ret_error = g_strdup("it is empty");
                return -ENODATA;
        }
        if (!line.whole) {
                *ret_error = g_strdup("its first line breaks off");
                return -ENODATA;
        }

        r = record_header_parse(line.text, line.length, &record->header, &record->chain.header, ret_error);
        if (r < 0)
                return r;

        record->size = record->body = line.next;
        record->chain.last = record->chain.header;
        record->chain.alone = record->header.version < RECORD_VERSION_CHAINED;
        record->engine = record->header.engine;
        record->all_effects = record->chain.alone ? UINT_MAX : 0;
        return 0;
}

static void add_entry(RunRecord *record, const Entry *entry, uint64_t next) {
        json_object *engine;

        if (entry->kind == ENTRY_RECOVERED && json_object_object_get_ex(entry->details, "engine", &engine)) {
                record->engine = (uint32_t) json_object_get_int64(engine);
                record->all_effects = MIN(record->all_effects, record->entries->len);
        }
        if (entry->kind == ENTRY_SNAPSHOT) {
                record->newest = record->size;
                record->newest_entry = record->entries->len;
        }

        g_array_append_val(record->entries, *entry);
        record->size = next;
}

/* Checks that a snapshot follows the line before it; the lines before the first entry may have been removed. */
static bool follows(const RunRecord *record, const Entry *entry, uint32_t before) {
        return entry->kind != ENTRY_SNAPSHOT || record->entries->len == 0 || entry_follows(entry, before);
}

/* The kernel writes a file from its beginning on, so only the last line can be incomplete, and then it has no line
 * end. */
static int read_records(RunRecord *record, const char *text, size_t length, char **ret_error) {
        for (unsigned number = 2; record->size < length; number++) {
                Line line = line_at(text, length, record->size);
                uint32_t before = record->chain.last;
                g_autofree char *error = NULL;
                Entry entry;

                if (!line.whole) {
                        record->torn = true;
                        return 0;
                }
                if (entry_parse(line.text, line.length, &record->chain, &entry, &error) < 0) {
                        *ret_error = g_strdup_printf("line %u: %s", number, error);
                        return -EBADMSG;
                }
                if (!follows(record, &entry, before)) {
                        entry_clear(&entry);
                        *ret_error = g_strdup_printf("line %u: lines before it are missing", number);
                        return -EBADMSG;
                }

                add_entry(record, &entry, line.next);
        }

        return 0;
}

int run_record_read_text(const char *text, size_t length, RunRecord **ret_record, char **ret_error) {
        g_autoptr(RunRecord) record = g_new0(RunRecord, 1);
        int r;

        record->entries = g_array_new(false, false, sizeof(Entry));
        g_array_set_clear_func(record->entries, (GDestroyNotify) entry_clear);

        r = read_header(record, text, length, ret_error);
        if (r >= 0)
                r = read_records(record, text, length, ret_error);
        if (r < 0)
                return r;

        *ret_record = g_steal_pointer(&record);
        return 0;
}

int run_record_read_file(const char *path, RunRecord **ret_record, char **ret_error) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        gsize length;

        if (!g_file_get_contents(path, &text, &length, &error)) {
                *ret_error = g_strdup_printf("cannot be read: %s", g_strerror(errno));
                return -EIO;
        }

        return run_record_read_text(text, length, ret_record, ret_error);
}

void run_record_free(RunRecord *record) {
        if (!record)
                return;

        record_header_clear(&record->header);
        if (record->entries)
                g_array_unref(record->entries);
        g_free(record);
}
