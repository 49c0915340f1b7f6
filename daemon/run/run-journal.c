/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes the run record of a run. The header contains all the files of the tree, because these may change before it is
 * read. */

#include "run/run-journal.h"
#include "basic/boot-file.h"
#include "basic/log.h"
#include "engine/engine-version.h"
#include "run/run-state.h"

static JournalHeader header_of(const Run *run, const char *boot, const char *starter) {
        const Definition *definition = run_definition(run);

        return (JournalHeader){
                .engine = engine_version(),
                .boot = g_strdup(boot),
                .run = g_strdup(run->id),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run->instance),
                .starter = g_strdup(starter),
                .token = g_strdup(run_token(run)),
                .uid = run_caller(run),
                .hash = g_strdup(definition_hash(definition)),
                .seed = run->seed,
                .started = run->started,
                .start = run->start,
                .variables = run->given ? json_object_get(run->given) : json_object_new_object(),
        };
}

void run_begin_journal(Run *run, Journals *journals, const char *starter) {
        g_auto(JournalHeader) header = {};
        g_autofree char *error = NULL, *files = NULL;
        JournalWriter *writer;

        if (!journals_are_kept(journals))
                return;

        header = header_of(run, boot_id(), starter);
        header.files_json = files = definition_take_files(progress_definition(run->progress));
        if (journals_begin(journals, &header, &writer, &error) >= 0)
                run_set_journal(run, writer);
        else
                run_lose_journal(run, error);
}

void run_set_journal(Run *run, JournalWriter *writer) {
        progress_set_journal(run->progress, writer);
        run->context.durable = true;
}

void run_lose_journal(Run *run, const char *error) {
        run->context.durable = false;
        run->not_durable = g_strdup(error);
        log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run->id },
                    "would not survive a restart of the daemon: %s", error);
}

void run_close_journal(Run *run) {
        progress_set_journal(run->progress, NULL);
}

void run_leave_journal(Run *run) {
        g_autofree char *error = NULL;

        if (run_status(run) == STATUS_RUNNING && progress_close(run->progress, &error) < 0)
                log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run->id },
                            "has no snapshot for the next btd, which has to replay its record: %s", error);
}

/* The same summary that journal_summary_read() would read. */
static JournalSummary summary_of(const Run *run) {
        return (JournalSummary){
                .run = g_strdup(run->id),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run->instance),
                .token = g_strdup(run_token(run)),
                .status = g_strdup(run_status_text(run)),
                .cause = g_strdup(run_cause(run) ?: ""),
                .started = run->started,
                .finished = run->finished,
        };
}

void run_end_journal(Run *run, Journals *journals) {
        const JournalWriter *writer = progress_journal(run->progress);
        uint64_t bytes = writer ? journal_writer_size(writer) : 0;
        g_auto(JournalSummary) summary = {};

        run_close_journal(run);
        if (bytes == 0)
                return;

        summary = summary_of(run);
        journals_finish(journals, &summary, bytes);
}

bool run_is_durable(const Run *run) {
        return run->context.durable;
}

const char *run_not_durable(const Run *run) {
        return run->not_durable;
}
