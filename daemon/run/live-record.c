/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the run record of a live run, from its start to its end. */

#include "basic/boot-file.h"
#include "basic/log.h"
#include "run/run-state.h"

RecordHeader run_record_header(const Run *run) {
        return (RecordHeader){
                .engine = engine_version(),
                .boot = g_strdup(boot_id()),
                .run = g_strdup(run_id(run)),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run_instance(run)),
                .starter = g_strdup(run->starter),
                .token = g_strdup(run_token(run)),
                .uid = run->caller,
                .variables_kib = definition_limits(run->definition)->max[LIMIT_VARIABLES],
                .hash = g_strdup(definition_hash(run->definition)),
                .seed = run->seed,
                .started = run->started,
                .start = run->start,
                .variables = run->given ? json_object_get(run->given) : json_object_new_object(),
        };
}

void run_begin_record(Run *run, RecordStore *store, const char *starter) {
        g_auto(RecordHeader) header = {};
        g_autofree char *error = NULL;
        RecordWriter *writer;

        run->starter = g_strdup(starter);
        if (!record_store_are_kept(store)) {
                run->not_durable = g_strdup("btd has no runtime directory");
                return;
        }

        /* The header contains all the files of the tree, because these may change before it is read. */
        header = run_record_header(run);
        header.files_text = definition_take_files(run->definition);
        if (record_store_begin(store, &header, &writer, &error) >= 0)
                run_set_writer(run, writer);
        else
                run_lose_record(run, error);
}

void run_lose_record(Run *run, const char *error) {
        run->durable = false;
        run->not_durable = g_strdup(error);
        log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run_id(run) },
                    "would not survive a restart of btd, because %s", error);
}

void run_close_record(Run *run) {
        run_set_writer(run, NULL);
}

RunSummary run_summary(const Run *run) {
        uint32_t n_more;
        json_object *outputs = run_outputs(run, &n_more);

        return (RunSummary){
                .run = g_strdup(run_id(run)),
                .tree = g_strdup(run->tree),
                .instance = g_strdup(run_instance(run)),
                .token = g_strdup(run_token(run)),
                .status = g_strdup(run_status_text(run)),
                .cause = g_strdup(run_cause(run) ?: ""),
                .started = run->started,
                .finished = run_finished(run),
                .uid = run_caller(run),
                .outputs = outputs,
                .n_more_outputs = n_more,
        };
}

uint64_t run_record_size(const Run *run) {
        return run->writer ? record_writer_size(run->writer) : 0;
}

void run_end_record(Run *run, RecordStore *store) {
        uint64_t bytes = run_record_size(run);
        g_auto(RunSummary) summary = {};

        if (run->writer)
                record_writer_drop_secrets(run->writer);
        run_close_record(run);
        record_copies_drop(record_store_copies(store), run_id(run));
        if (bytes == 0)
                return;

        summary = run_summary(run);
        record_store_finish(store, &summary, bytes);
}

bool run_is_durable(const Run *run) {
        return run->durable;
}

const char *run_not_durable(const Run *run) {
        return run->not_durable;
}
