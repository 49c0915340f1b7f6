/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads a run record and the tree in it, and finds its begin and end, for all that replay a recording. */

#include <errno.h>
#include <systemd/sd-id128.h>

#include "client/recording/recording.h"
#include "record/record-definition.h"

void recording_free(Recording *recording) {
        if (!recording)
                return;

        g_free(recording->name);
        run_record_free(recording->journal);
        definition_unref(recording->definition);
        g_free(recording);
}

int recording_new(const char *name, const char *text, size_t length, const NodeType *const *const *tables,
                  Recording **ret_recording, char **ret_error) {
        g_autoptr(Recording) recording = g_new0(Recording, 1);
        int r;

        recording->name = g_strdup(name);
        r = run_record_read_text(text, length, &recording->journal, ret_error);
        if (r >= 0)
                r = record_definition_new(&recording->journal->header, tables, &recording->definition, ret_error);
        if (r < 0)
                return r;

        *ret_recording = g_steal_pointer(&recording);
        return 0;
}

static const Entry *last_record(const Recording *recording) {
        const GArray *records = recording->journal->entries;

        return records->len > 0 ? &g_array_index(records, Entry, records->len - 1) : NULL;
}

uint64_t recording_begin(const Recording *recording) {
        const GArray *records = recording->journal->entries;
        const Entry *first = records->len > 0 ? &g_array_index(records, Entry, 0) : NULL;

        return first && first->kind == ENTRY_SNAPSHOT ? first->time : 0;
}

static bool is_of_this_boot(const RecordHeader *header) {
        sd_id128_t boot, own;

        return sd_id128_from_string(header->boot, &boot) >= 0 && sd_id128_get_boot(&own) >= 0 &&
               sd_id128_equal(boot, own);
}

/* The time since the start of the run: by CLOCK_MONOTONIC, which nobody sets, unless the run is on another machine. */
static uint64_t age(const RecordHeader *header) {
        bool own = is_of_this_boot(header);
        uint64_t start = own ? header->start : header->started,
                 now = (uint64_t) (own ? g_get_monotonic_time() : g_get_real_time());

        return now > start ? now - start : 0;
}

uint64_t recording_length(const Recording *recording) {
        const Entry *last = last_record(recording);
        uint64_t known = last ? last->time : 0;

        return recording->live ? MAX(known, age(&recording->journal->header)) : known;
}
