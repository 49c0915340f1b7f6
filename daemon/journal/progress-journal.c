/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Records as they are written, without a detour through JSON objects where there is none already: this happens for
 * every input of every run.
 *
 * They reach the kernel before the next effect and, at the latest, when the run is no longer at work. Of what has had
 * an effect, the reason is always there.
 */

#include <inttypes.h>

#include "basic/cause-json.h"
#include "basic/cleanup.h"
#include "journal/progress-state.h"
#include "journal/snapshot.h"

static void value_free(void *data) {
        ProgressValue *value = data;

        cause_unref(value->cause);
        g_free(value);
}

static size_t begin(Progress *progress, RecordKind kind, NodeId node) {
        return record_begin(journal_writer_text(progress->writer), progress->now - progress->start, kind, node);
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
        g_string_append(text, " {\"status\":\"");
        g_string_append(text, status_to_string(status));
        g_string_append_c(text, '"');
        append_cause(text, cause);
}

void progress_note(Progress *progress, RecordKind kind, NodeId node) {
        if (progress->writer)
                record_end(journal_writer_text(progress->writer), begin(progress, kind, node));
}

void progress_note_status(Progress *progress, RecordKind kind, NodeId node, Status status, const Cause *cause) {
        GString *text;
        size_t line;

        if (!progress->writer)
                return;

        text = journal_writer_text(progress->writer);
        line = begin(progress, kind, node);
        append_outcome(text, status, cause);
        g_string_append_c(text, '}');
        record_end(text, line);
}

static void note_json(Progress *progress, RecordKind kind, NodeId node, json_object *json) {
        GString *text = journal_writer_text(progress->writer);
        size_t line = begin(progress, kind, node);

        g_string_append_c(text, ' ');
        append_json(text, json);
        record_end(text, line);
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

void progress_note_breakpoint(Progress *progress, NodeId node, bool set) {
        GString *text;
        size_t line;

        if (!progress->writer)
                return;

        text = journal_writer_text(progress->writer);
        line = begin(progress, RECORD_BREAK, node);
        g_string_append(text, set ? " {\"set\":true}" : " {\"set\":false}");
        record_end(text, line);
}

void progress_note_start(Progress *progress, NodeId node, Status status, const Cause *cause) {
        g_autoptr(json_object) outputs = g_steal_pointer(&progress->outputs);
        GString *text;
        size_t line;

        if (!progress->writer || (status == STATUS_RUNNING && !outputs))
                return;

        text = journal_writer_text(progress->writer);
        line = begin(progress, RECORD_AT_ONCE, node);
        append_outcome(text, status, cause);
        if (outputs) {
                g_string_append(text, ",\"outputs\":");
                append_json(text, outputs);
        }
        g_string_append_c(text, '}');
        record_end(text, line);
}

const ProgressValue *progress_value(const Progress *progress, NodeId node) {
        return progress->values ? g_hash_table_lookup(progress->values, GUINT_TO_POINTER(node)) : NULL;
}

/* What it goes back to does not matter, and it may be renewed. */
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

/* At first a value is not known, unless something else is said. */
static bool is_as_before(const Progress *progress, NodeId node, Status status, const Cause *cause) {
        const ProgressValue *before = progress_value(progress, node);

        if (!before)
                return progress->first_look && status == STATUS_RUNNING;

        return before->status == status && g_strcmp0(text_of(before->cause), text_of(cause)) == 0;
}

void progress_note_look(Progress *progress, NodeId node, Status status, Cause *cause) {
        GString *text;
        size_t line;

        if (is_as_before(progress, node, status, cause))
                return;

        progress_put_value(progress, node, status, cause);
        if (!progress->writer)
                return;

        text = journal_writer_text(progress->writer);
        line = begin(progress, RECORD_VALUE, node);
        append_outcome(text, status, cause);
        g_string_append_printf(text, ",\"look\":%" PRIu32 "}", progress->n_looks);
        record_end(text, line);
}

void progress_forget_value(Progress *progress, NodeId node) {
        if (progress->values)
                g_hash_table_remove(progress->values, GUINT_TO_POINTER(node));
}

static void lose_journal(Progress *progress, const char *error) {
        g_clear_pointer(&progress->writer, journal_writer_free);
        progress->host->journal_failed(error, progress->userdata);
}

void progress_note_snapshot(Progress *progress) {
        g_autoptr(json_object) snapshot = NULL;
        g_autofree char *error = NULL;
        Record record = { .kind = RECORD_SNAPSHOT, .node = NODE_NONE };

        if (!progress->writer || !progress->machine || !progress->host->leaf_report ||
            !journal_writer_is_due(progress->writer))
                return;

        snapshot = snapshot_of(progress);
        record.time = progress->now - progress->start;
        record.details = snapshot;
        if (journal_writer_add_snapshot(progress->writer, &record, &error) < 0)
                lose_journal(progress, error);
}

void progress_flush(Progress *progress) {
        g_autofree char *error = NULL;

        if (!progress->writer || journal_writer_flush(progress->writer, &error) >= 0)
                return;

        lose_journal(progress, error);
}
