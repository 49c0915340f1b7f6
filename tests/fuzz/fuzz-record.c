/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Any file at all is read as a run record: it is one, or the text says why not. What was read and is written again
 * reads the same. If its header has a tree, it is replayed and plotted, as far as it fits that. Since no fuzzer finds
 * checksums, each line gets the one that is right for it, unless it begins with '!'.
 */

#include <string.h>

#include "client/plot/plot.h"
#include "fuzz.h"
#include "random-definition.h"
#include "record/run-record.h"
#include "run/replay.h"

static void add_checksum(GString *text, size_t start, EntryChain *chain) {
        const char *line = text->str + start, *kind = strchr(line, ' ');
        bool snapshot = kind && g_str_has_prefix(kind + 1, entry_kind_to_string(ENTRY_SNAPSHOT));

        chain->last = entry_append_checksum(text, start, snapshot ? chain->header : chain->last);
        if (start == 0)
                chain->header = chain->last;
}

static GString *with_checksums(const char *data, size_t size) {
        GString *text = g_string_sized_new(size);
        const char *end = data + size;
        EntryChain chain = {};

        while (data < end) {
                const char *stop = memchr(data, '\n', (size_t) (end - data));
                size_t start = text->len, n = (size_t) ((stop ?: end) - data);

                g_string_append_len(text, data + (n > 0 && *data == '!'), (gssize) (n - (n > 0 && *data == '!')));
                if (n > 0 && *data != '!')
                        add_checksum(text, start, &chain);
                else if (stop)
                        g_string_append_c(text, '\n');
                data += n + 1;
        }

        return text;
}

static void write_again(const RunRecord *record, GString *text) {
        EntryChain chain = {};

        chain.header = chain.last = record_header_append(text, &record->header);
        for (unsigned i = 0; i < record->entries->len; i++)
                entry_append(text, &g_array_index(record->entries, Entry, i), &chain);
}

static void check_same(const RunRecord *a, const RunRecord *b) {
        g_assert_cmpuint(a->entries->len, ==, b->entries->len);
        for (unsigned i = 0; i < a->entries->len; i++) {
                const Entry *first = &g_array_index(a->entries, Entry, i),
                            *second = &g_array_index(b->entries, Entry, i);

                g_assert_cmpint(first->kind, ==, second->kind);
                g_assert_cmpuint(first->node, ==, second->node);
                g_assert_true(first->time == second->time);
        }
}

/* As 'btctl plot' does it. */
static void plot(RunRecord *record, Definition *definition, bool fits) {
        const Recording recording = { .record = record, .definition = definition };
        g_autofree char *unfit = NULL, *drawn = plot_recording(&recording, plot_svg, &unfit);

        g_assert_true((drawn != NULL) == fits);
        g_assert_true((drawn == NULL) == (unfit != NULL));
}

static void replay_all(RunRecord *record) {
        g_autoptr(Definition) definition = NULL;
        g_autoptr(Replay) replay = NULL;
        g_autofree char *none = NULL, *unfit = NULL;
        int r;

        r = record_definition_new(&record->header, random_definition_tables, &definition, &none);
        g_assert_true((r < 0) == (none != NULL));
        if (r < 0)
                return;

        r = replay_new(record, definition, &replay, &unfit);
        if (r >= 0)
                r = replay_until(replay, UINT64_MAX, &unfit);
        g_assert_true((r < 0) == (unfit != NULL));
        plot(record, definition, r >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(GString) text = with_checksums((const char *) data, size), again = g_string_new(NULL);
        g_autoptr(RunRecord) record = NULL, reread = NULL;
        g_autofree char *error = NULL;
        int r;

        r = run_record_read_text(text->str, text->len, &record, &error);
        g_assert_true((r < 0) == (error != NULL));
        if (r < 0)
                return 0;

        g_assert_cmpuint(record->size, <=, text->len);
        write_again(record, again);
        r = run_record_read_text(again->str, again->len, &reread, &error);
        g_assert_cmpstr(error, ==, NULL);
        check_same(record, reread);
        replay_all(record);
        return 0;
}
