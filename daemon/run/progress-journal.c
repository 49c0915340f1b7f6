/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Writes the records of a run. The JSON text is written directly, without JSON objects if there are none yet, because
 * this happens for every input of every run.
 *
 * Records are flushed before the next effect, and at the latest when the run has processed its input. So the reason of
 * each effect is always recorded.
 */

#include <inttypes.h>
#include <json-c/linkhash.h>

#include "basic/cause-json.h"
#include "basic/cleanup.h"
#include "run/progress-state.h"
#include "run/snapshot.h"

/* The maximum size, in bytes, of a variable's value in the record of a leaf's start. */
#define NOTED_MAX 1024u
/* Longer than any status. */
#define OUTCOME_MAX 32u

static void value_free(void *data) {
        ProgressValue *value = data;

        cause_unref(value->cause);
        g_free(value);
}

static GString *begin(Progress *progress, RecordKind kind, NodeId node) {
        return journal_writer_begin(progress->writer, progress->now - progress->start, kind, node);
}

static void append_json(GString *text, json_object *json) {
        g_string_append(text,
                        json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void append_cause(GString *text, const Cause *cause) {
        g_autoptr(json_object) json = NULL;

        if (!cause)
                return;

        json = cause_to_json(cause);
        g_string_append(text, ",\"cause\":");
        append_json(text, json);
}

static void append_outcome(GString *text, Status status, const Cause *cause) {
        char outcome[OUTCOME_MAX], *end = stpcpy(outcome, " {\"status\":\"");

        end = stpcpy(stpcpy(end, status_to_string(status)), "\"");
        g_string_append_len(text, outcome, end - outcome);
        append_cause(text, cause);
}

void progress_note(Progress *progress, RecordKind kind, NodeId node) {
        if (!progress->writer)
                return;

        begin(progress, kind, node);
        journal_writer_end(progress->writer);
}

void progress_note_status(Progress *progress, RecordKind kind, NodeId node, Status status, const Cause *cause) {
        GString *text;

        if (!progress->writer)
                return;

        text = begin(progress, kind, node);
        append_outcome(text, status, cause);
        g_string_append_c(text, '}');
        journal_writer_end(progress->writer);
}

static void note_json(Progress *progress, RecordKind kind, NodeId node, json_object *json) {
        GString *text = begin(progress, kind, node);

        g_string_append_c(text, ' ');
        append_json(text, json);
        journal_writer_end(progress->writer);
}

void progress_note_cause(Progress *progress, RecordKind kind, const Cause *cause) {
        g_autoptr(json_object) json = NULL;

        if (!progress->writer)
                return;

        json = json_object_new_object();
        json_object_object_add(json, "cause", cause_to_json(cause));
        note_json(progress, kind, NODE_NONE, json);
}

void progress_note_values(Progress *progress, RecordKind kind, NodeId node, json_object *values) {
        if (progress->writer && values)
                note_json(progress, kind, node, values);
        else
                progress_note(progress, kind, node);
}

/* Larger values are not written again: the run record already has the variables of the run. */
static void append_noted(GString *text, json_object *noted) {
        const char *separator = " {\"with\":{";

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

void progress_note_begin(Progress *progress, RecordKind kind, NodeId node, json_object *noted) {
        GString *text;

        if (!progress->writer)
                return;

        text = begin(progress, kind, node);
        if (noted)
                append_noted(text, noted);
        journal_writer_end(progress->writer);
}

void progress_note_number(Progress *progress, RecordKind kind, NodeId node, const char *name, uint64_t number) {
        if (!progress->writer)
                return;

        g_string_append_printf(begin(progress, kind, node), " {\"%s\":%" PRIu64 "}", name, number);
        journal_writer_end(progress->writer);
}

void progress_note_breakpoint(Progress *progress, NodeId node, bool set) {
        GString *text;

        if (!progress->writer)
                return;

        text = begin(progress, RECORD_BREAK, node);
        g_string_append(text, set ? " {\"set\":true}" : " {\"set\":false}");
        journal_writer_end(progress->writer);
}

void progress_note_start(Progress *progress, NodeId node, Status status, const Cause *cause) {
        g_autoptr(json_object) outputs = g_steal_pointer(&progress->outputs);
        GString *text;

        if (!progress->writer || (status == STATUS_RUNNING && !outputs))
                return;

        text = begin(progress, RECORD_AT_ONCE, node);
        append_outcome(text, status, cause);
        if (outputs) {
                g_string_append(text, ",\"outputs\":");
                append_json(text, outputs);
        }
        g_string_append_c(text, '}');
        journal_writer_end(progress->writer);
}

const ProgressValue *progress_value(const Progress *progress, NodeId node) {
        return progress->values ? g_hash_table_lookup(progress->values, GUINT_TO_POINTER(node)) : NULL;
}

/* Copies the cause without the chain below it, which does not matter here. The original may be changed later. */
static Cause *copy_of(const Cause *cause) {
        Cause *copy = cause_new(cause->kind, json_object_get(cause->facts), cause->text);

        copy->node = cause->node;
        return copy;
}

void progress_put_value(Progress *progress, NodeId node, Status status, const Cause *cause) {
        ProgressValue *value = g_new(ProgressValue, 1);

        if (!progress->values)
                progress->values = g_hash_table_new_full(NULL, NULL, NULL, value_free);

        *value = (ProgressValue){ .status = status, .cause = cause ? copy_of(cause) : NULL };
        g_hash_table_replace(progress->values, GUINT_TO_POINTER(node), value);
}

static const char *text_of(const Cause *cause) {
        return cause ? cause->text : NULL;
}

/* Before the first evaluation, the value of a condition is not known (RUNNING). */
static bool is_as_before(const Progress *progress, NodeId node, Status status, const Cause *cause) {
        const ProgressValue *before = progress_value(progress, node);

        if (!before)
                return progress->first_evaluation && status == STATUS_RUNNING;

        return before->status == status && g_strcmp0(text_of(before->cause), text_of(cause)) == 0;
}

void progress_note_evaluation(Progress *progress, NodeId node, Status status, Cause *cause) {
        GString *text;

        if (is_as_before(progress, node, status, cause))
                return;

        progress_put_value(progress, node, status, cause);
        if (!progress->writer)
                return;

        text = begin(progress, RECORD_VALUE, node);
        append_outcome(text, status, cause);
        g_string_append_printf(text, ",\"look\":%" PRIu32 "}", progress->n_evaluations);
        journal_writer_end(progress->writer);
}

void progress_forget_value(Progress *progress, NodeId node) {
        if (progress->values)
                g_hash_table_remove(progress->values, GUINT_TO_POINTER(node));
}

static void lose_journal(Progress *progress, const char *error) {
        g_clear_pointer(&progress->writer, journal_writer_free);
        progress->host->journal_failed(error, progress->userdata);
}

static bool can_have_snapshot(const Progress *progress) {
        return progress->writer && progress->machine && progress->host->leaf_report;
}

/* Makes the record; its details are new. */
static Record take_snapshot(const Progress *progress) {
        return (Record){
                .time = progress->now - progress->start,
                .kind = RECORD_SNAPSHOT,
                .node = NODE_NONE,
                .details = snapshot_of(progress),
        };
}

void progress_note_snapshot(Progress *progress) {
        g_autofree char *error = NULL;
        g_auto(Record) record = {};

        if (!can_have_snapshot(progress) || !journal_writer_is_due(progress->writer))
                return;

        record = take_snapshot(progress);
        if (journal_writer_add_snapshot(progress->writer, &record, &error) < 0)
                lose_journal(progress, error);
}

int progress_close(Progress *progress, char **ret_error) {
        g_auto(Record) record = {};
        int r = 0;

        progress_flush(progress);
        if (can_have_snapshot(progress)) {
                record = take_snapshot(progress);
                r = journal_writer_close(progress->writer, &record, ret_error);
        }

        g_clear_pointer(&progress->writer, journal_writer_free);
        return r;
}

void progress_flush(Progress *progress) {
        g_autofree char *error = NULL;

        if (!progress->writer || journal_writer_flush(progress->writer, &error) >= 0)
                return;

        lose_journal(progress, error);
}
