/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reading a journal line by line, and telling one that breaks off from one that was damaged. */

#include <errno.h>
#include <string.h>

#include "journal/journal.h"

typedef struct Line {
        const char *text;
        size_t length;
        size_t next; /* where the one behind it begins */
        bool last;   /* there is nothing behind it */
        bool whole;  /* it has an end */
} Line;

static Line line_at(const char *text, size_t length, size_t offset) {
        const char *start = text + offset, *end = memchr(start, '\n', length - offset);
        size_t n = end ? (size_t) (end - start) : length - offset;

        return (Line){
                .text = start,
                .length = n,
                .next = offset + n + (end ? 1 : 0),
                .last = offset + n + 1 >= length,
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

        r = journal_header_parse(line.text, line.length, &journal->header, ret_error);
        if (r >= 0)
                journal->size = journal->body = line.next;
        return r;
}

static void add_record(Journal *journal, const Record *record, uint64_t next) {
        if (record->kind == RECORD_SNAPSHOT) {
                journal->newest = journal->size;
                journal->newest_record = journal->records->len;
        }

        g_array_append_val(journal->records, *record);
        journal->size = next;
}

static int read_records(Journal *journal, const char *text, size_t length, char **ret_error) {
        for (unsigned number = 2; journal->size < length; number++) {
                Line line = line_at(text, length, journal->size);
                g_autofree char *error = NULL;
                Record record;
                int r;

                r = record_parse(line.text, line.length, &record, &error);
                if (r >= 0 && line.whole) {
                        add_record(journal, &record, line.next);
                        continue;
                }
                if (r >= 0)
                        record_clear(&record);
                else if (r != -EBADMSG || !line.last) {
                        *ret_error = g_strdup_printf("line %u: %s", number, error);
                        return -EBADMSG;
                }

                journal->torn = true;
                return 0;
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
