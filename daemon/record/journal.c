/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a run record line by line, and distinguishes an incomplete one from a damaged one. */

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "record/journal.h"

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

static int read_header(Journal *journal, const char *text, size_t length, char **ret_error) {
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

        r = journal_header_parse(line.text, line.length, &journal->header, &journal->chain.header, ret_error);
        if (r < 0)
                return r;

        journal->size = journal->body = line.next;
        journal->chain.last = journal->chain.header;
        journal->chain.alone = journal->header.version < JOURNAL_VERSION_CHAINED;
        journal->engine = journal->header.engine;
        journal->all_effects = journal->chain.alone ? UINT_MAX : 0;
        return 0;
}

static void add_record(Journal *journal, const Record *record, uint64_t next) {
        json_object *engine;

        if (record->kind == RECORD_RECOVERED && json_object_object_get_ex(record->details, "engine", &engine)) {
                journal->engine = (uint32_t) json_object_get_int64(engine);
                journal->all_effects = MIN(journal->all_effects, journal->records->len);
        }
        if (record->kind == RECORD_SNAPSHOT) {
                journal->newest = journal->size;
                journal->newest_record = journal->records->len;
        }

        g_array_append_val(journal->records, *record);
        journal->size = next;
}

/* Checks that a snapshot follows the line before it; the lines before the first record may have been removed. */
static bool follows(const Journal *journal, const Record *record, uint32_t before) {
        return record->kind != RECORD_SNAPSHOT || journal->records->len == 0 || record_follows(record, before);
}

/* The kernel writes a file from its beginning on, so only the last line can be incomplete, and then it has no line
 * end. */
static int read_records(Journal *journal, const char *text, size_t length, char **ret_error) {
        for (unsigned number = 2; journal->size < length; number++) {
                Line line = line_at(text, length, journal->size);
                uint32_t before = journal->chain.last;
                g_autofree char *error = NULL;
                Record record;

                if (!line.whole) {
                        journal->torn = true;
                        return 0;
                }
                if (record_parse(line.text, line.length, &journal->chain, &record, &error) < 0) {
                        *ret_error = g_strdup_printf("line %u: %s", number, error);
                        return -EBADMSG;
                }
                if (!follows(journal, &record, before)) {
                        record_clear(&record);
                        *ret_error = g_strdup_printf("line %u: lines before it are missing", number);
                        return -EBADMSG;
                }

                add_record(journal, &record, line.next);
        }

        return 0;
}

int journal_read_text(const char *text, size_t length, Journal **ret_journal, char **ret_error) {
        g_autoptr(Journal) journal = g_new0(Journal, 1);
        int r;

        journal->records = g_array_new(false, false, sizeof(Record));
        g_array_set_clear_func(journal->records, (GDestroyNotify) record_clear);

        r = read_header(journal, text, length, ret_error);
        if (r >= 0)
                r = read_records(journal, text, length, ret_error);
        if (r < 0)
                return r;

        *ret_journal = g_steal_pointer(&journal);
        return 0;
}

int journal_read_file(const char *path, Journal **ret_journal, char **ret_error) {
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        gsize length;

        if (!g_file_get_contents(path, &text, &length, &error)) {
                *ret_error = g_strdup_printf("cannot be read: %s", g_strerror(errno));
                return -EIO;
        }

        return journal_read_text(text, length, ret_journal, ret_error);
}

void journal_free(Journal *journal) {
        if (!journal)
                return;

        journal_header_clear(&journal->header);
        if (journal->records)
                g_array_unref(journal->records);
        g_free(journal);
}
