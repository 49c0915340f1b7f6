/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All that a run was made from goes into the header, since the tree's files may be others when it is read. */

#include "runtime/run-journal.h"
#include "basic/log.h"
#include "runtime/boot-file.h"
#include "runtime/run-state.h"

static json_object *files_of(const Definition *definition) {
        json_object *files = json_object_new_array();

        for (size_t i = 0; i < definition_n_files(definition); i++) {
                json_object *file = json_object_new_object();

                json_object_object_add(file, "path", json_object_new_string(definition_file(definition, i) ?: ""));
                json_object_object_add(file, "text", json_object_new_string(definition_file_text(definition, i)));
                json_object_array_add(files, file);
        }

        return files;
}

static JournalHeader header_of(const Run *run, const char *boot, const char *starter) {
        const Definition *definition = run_definition(run);

        return (JournalHeader){
                .boot = g_strdup(boot),
                .run = g_strdup(run->id),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run->instance),
                .starter = g_strdup(starter),
                .uid = run_caller(run),
                .hash = g_strdup(definition_hash(definition)),
                .seed = run->seed,
                .started = run->started,
                .start = run->start,
                .files = files_of(definition),
                .variables = run->given ? json_object_get(run->given) : json_object_new_object(),
        };
}

void run_begin_journal(Run *run, Journals *journals, const char *starter) {
        g_auto(JournalHeader) header = {};
        g_autofree char *error = NULL;
        JournalWriter *writer;

        if (!journals_are_kept(journals))
                return;

        header = header_of(run, boot_id(), starter);
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

void run_end_journal(Run *run, Journals *journals) {
        run_close_journal(run);
        journals_finish(journals, run->id);
}

bool run_is_durable(const Run *run) {
        return run->context.durable;
}

const char *run_not_durable(const Run *run) {
        return run->not_durable;
}
