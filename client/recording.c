/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Making the tree of a journal, and how far it reaches. */

#include <errno.h>

#include "journal/journal-definition.h"
#include "recording.h"

void recording_free(Recording *recording) {
        if (!recording)
                return;

        g_free(recording->name);
        journal_free(recording->journal);
        definition_unref(recording->definition);
        g_free(recording);
}

int recording_new(const char *name, const char *text, size_t length, const NodeType *const *const *tables,
                  Recording **ret_recording, char **ret_error) {
        g_autoptr(Recording) recording = g_new0(Recording, 1);
        int r;

        recording->name = g_strdup(name);
        r = journal_read_text(text, length, &recording->journal, ret_error);
        if (r >= 0)
                r = journal_definition_new(&recording->journal->header, tables, &recording->definition, ret_error);
        if (r < 0)
                return r;

        *ret_recording = g_steal_pointer(&recording);
        return 0;
}

static const Record *last_record(const Recording *recording) {
        const GArray *records = recording->journal->records;

        return records->len > 0 ? &g_array_index(records, Record, records->len - 1) : NULL;
}

uint64_t recording_begin(const Recording *recording) {
        const GArray *records = recording->journal->records;
        const Record *first = records->len > 0 ? &g_array_index(records, Record, 0) : NULL;

        return first && first->kind == RECORD_SNAPSHOT ? first->time : 0;
}

uint64_t recording_length(const Recording *recording) {
        uint64_t now = (uint64_t) g_get_real_time(), started = recording->journal->header.started;
        const Record *last = last_record(recording);
        uint64_t known = last ? last->time : 0;

        /* The clock of another host may be another. */
        return recording->live && now > started ? MAX(known, now - started) : known;
}
