/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Owns the run record of a live run, from its start to its end, and writes its entries: those of one input are a block,
 * which is flushed before its effects are carried out. A run that is replayed has no writer; its effects are compared
 * with the record instead. Details that are not a JSON object yet are written directly as text, because this happens
 * for every input of every run.
 */

#include <inttypes.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "basic/boot-file.h"
#include "basic/cause.h"
#include "basic/cleanup.h"
#include "basic/log.h"
#include "run/replay.h"
#include "run/run-state.h"
#include "run/snapshot.h"

/* The maximum size, in bytes, of a variable's value in the entry of a leaf's start. */
#define NOTED_MAX 1024u
/* Longer than any status. */
#define OUTCOME_MAX 32u
/* How much work a replay has at most, in evaluations of conditions, until a snapshot comes that the size of the run
 * record does not need yet. There are more for a large tree, because its snapshots are large. Such a run record also
 * keeps its older entries: they are the event log. */
#define WORK_MAX UINT64_C(1000000)
#define NODE_WORK_MAX UINT64_C(64)
/* The work for a result that is computed again. */
#define AGAIN_WORK (WORK_MAX / 4)

static GString *begin(Run *run, EntryKind kind, NodeId node) {
        return record_writer_begin(run->writer, run->now - run->start, kind, node);
}

static void append_json(GString *text, json_object *json) {
        g_string_append(text,
                        json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* Begins an entry with an outcome, whose object the caller ends. NULL: there is no run record. */
static GString *begin_outcome(Run *run, EntryKind kind, NodeId node, Status status, const Cause *cause) {
        char outcome[OUTCOME_MAX], *end = stpcpy(outcome, " {\"status\":\"");
        GString *text;

        if (!run->writer)
                return NULL;

        text = begin(run, kind, node);
        end = stpcpy(stpcpy(end, status_to_string(status)), "\"");
        g_string_append_len(text, outcome, end - outcome);
        if (cause) {
                g_autoptr(json_object) json = cause_to_json(cause);

                g_string_append(text, ",\"cause\":");
                append_json(text, json);
        }
        return text;
}

void run_note(Run *run, EntryKind kind, NodeId node) {
        if (run->replay)
                replay_note(run->replay, kind, node);
        else if (run->writer)
                begin(run, kind, node);
}

void run_note_status(Run *run, EntryKind kind, NodeId node, Status status, const Cause *cause) {
        GString *text = begin_outcome(run, kind, node, status, cause);

        if (text)
                g_string_append_c(text, '}');
}

void run_note_finished(Run *run) {
        GString *text = begin_outcome(run, ENTRY_FINISHED, NODE_NONE, run->status, run->cause);
        g_autoptr(json_object) outputs = NULL;
        uint32_t n_more;

        if (!text)
                return;

        outputs = run_outputs(run, &n_more);
        if (outputs) {
                g_string_append(text, ",\"outputs\":");
                append_json(text, outputs);
        }
        if (n_more > 0)
                g_string_append_printf(text, ",\"more_outputs\":%" PRIu32, n_more);
        g_string_append_c(text, '}');
}

void run_note_values(Run *run, EntryKind kind, NodeId node, json_object *values) {
        GString *text;

        if (!run->writer || !values) {
                run_note(run, kind, node);
                return;
        }

        text = begin(run, kind, node);
        g_string_append_c(text, ' ');
        append_json(text, values);
}

/* Larger values are not written again: the run record already has the variables of the run. */
void run_note_noted(Run *run, EntryKind kind, NodeId node, json_object *noted) {
        const char *separator = " {\"with\":{";
        GString *text;

        if (run->replay)
                replay_note_noted(run->replay, kind, node, noted);
        if (!run->writer)
                return;

        text = begin(run, kind, node);
        if (!noted)
                return;

        json_object_object_foreach(noted, name, value) {
                if (blackboard_bytes_of(value) > NOTED_MAX)
                        continue;

                g_string_append_printf(text, "%s\"%s\":", separator, name);
                append_json(text, value);
                separator = ",";
        }
        if (*separator == ',')
                g_string_append(text, "}}");
}

void run_note_number(Run *run, EntryKind kind, NodeId node, const char *name, uint64_t number) {
        if (run->replay)
                replay_note_number(run->replay, kind, node, name, number);
        else if (run->writer)
                g_string_append_printf(begin(run, kind, node), " {\"%s\":%" PRIu64 "}", name, number);
}

void run_note_request(Run *run, EntryKind kind, NodeId node, json_object *details, const char *by) {
        g_autoptr(json_object) all = NULL;

        if (!by) {
                run_note_values(run, kind, node, details);
                return;
        }

        all = json_object_new_object();
        if (details) {
                json_object_object_foreach(details, key, value)
                        json_object_object_add(all, key, json_object_get(value));
        }
        json_object_object_add(all, ENTRY_BY, json_object_new_string(by));
        run_note_values(run, kind, node, all);
}

void run_note_outcome(Run *run, const RunLeaf *leaf) {
        static const RunInput nothing;
        const RunInput *input = run->input ?: &nothing;
        GString *text = begin_outcome(run, ENTRY_AT_ONCE, leaf->node, leaf->status, leaf->cause);

        if (!text)
                return;

        if (input->outputs) {
                g_string_append(text, ",\"outputs\":");
                append_json(text, input->outputs);
        }
        if (input->message) {
                g_autoptr(json_object) message = json_object_new_string(input->message);

                g_string_append(text, ",\"message\":");
                append_json(text, message);
                g_string_append_printf(text, ",\"level\":\"%s\"", log_level_names[input->message_level]);
        }
        g_string_append_c(text, '}');
}

void run_note_evaluation(Run *run, const RunLeaf *leaf) {
        GString *text = begin_outcome(run, ENTRY_VALUE, leaf->node, leaf->status, leaf->cause);

        if (text)
                g_string_append_printf(text, ",\"look\":%" PRIu32 "}", run->n_evaluations);
}

void run_note_results(Run *run) {
        unsigned n_again;
        const char *results = variables_take_results(run->variables, &n_again);
        uint64_t work = (uint64_t) run->work + run->n_evaluations + AGAIN_WORK * n_again;

        run->work = (uint32_t) MIN(work, UINT32_MAX);
        if (run->replay)
                replay_note(run->replay, ENTRY_COMPUTED, NODE_NONE);
        if (run->writer && results)
                g_string_append_printf(begin(run, ENTRY_COMPUTED, NODE_NONE), " {\"results\":%s}", results);
}

static void lose_record(Run *run, const char *error) {
        g_clear_pointer(&run->writer, record_writer_free);
        run->host->record_failed(error, run->host_userdata);
}

/* Makes the entry; its details are new. */
static Entry take_snapshot(const Run *run) {
        return (Entry){
                .time = run->now - run->start,
                .kind = ENTRY_SNAPSHOT,
                .node = NODE_NONE,
                .details = snapshot_of(run),
        };
}

void run_note_snapshot(Run *run) {
        g_autofree char *error = NULL;
        g_auto(Entry) record = {};
        bool due;
        int r;

        if (!run->writer || !run->machine)
                return;
        due = record_writer_is_due(run->writer);
        if (!due && run->work < MAX(WORK_MAX, NODE_WORK_MAX * definition_tree(run->definition)->n_nodes))
                return;

        record = take_snapshot(run);
        run->work = 0;
        if (due) {
                r = record_writer_add_snapshot(run->writer, &record, &error);
        } else {
                record_writer_add(run->writer, &record);
                r = record_writer_flush(run->writer, &error);
        }
        if (r < 0)
                lose_record(run, error);
}

void run_leave_record(Run *run) {
        g_autofree char *error = NULL;
        g_auto(Entry) record = {};

        if (run->status != STATUS_RUNNING)
                return;

        live_run_record_missed(run);
        run_flush(run);
        if (run->writer && run->machine) {
                record = take_snapshot(run);
                if (record_writer_close(run->writer, &record, &error) < 0)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run_id(run) },
                                    "has no snapshot, so the next btd has to replay the whole run record: %s", error);
        }
        g_clear_pointer(&run->writer, record_writer_free);
}

void run_flush(Run *run) {
        g_autofree char *error = NULL;
        GString *secrets;
        int r;

        if (!run->writer)
                return;

        /* Before the entries: a leaf that they name needs the values. */
        secrets = variables_take_secrets(run->variables);
        if (secrets) {
                r = record_writer_store_secrets(run->writer, secrets);
                if (r < 0)
                        log_message(LOG_WARNING, &(LogSubject){ .tree = run->tree, .run = run_id(run) },
                                    "cannot store its secret variables, so they are lost if btd is restarted: %s",
                                    g_strerror(-r));
                explicit_bzero(secrets->str, secrets->len);
                g_string_free(secrets, TRUE);
        }
        if (record_writer_flush(run->writer, &error) < 0)
                lose_record(run, error);
}

/* The record of a live run. */

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
