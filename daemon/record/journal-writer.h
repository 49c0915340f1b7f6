/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes a run record. Records are collected and written to the kernel together, so they survive if the daemon is
 * killed. They are not synced to disk, since no run survives a reboot. The execution of a run uses it.
 *
 * If a run record cannot be written, or exceeds its size limit, it is deleted, because an incomplete one would lead to
 * a wrong recovery.
 *
 * To limit its size, a snapshot of the run is written from time to time, and only the last two snapshots and the
 * records since then are kept: a new file replaces the old one.
 */

#include "record/journal.h"

typedef struct JournalWriter JournalWriter;

/* Creates the file, which must not exist, and takes the files_text of the header. The header is written together with
 * the first records. A negative errno with an error message. */
int journal_writer_create(const char *path, JournalHeader *header, JournalWriter **ret_writer, char **ret_error);
/* Continues after the last complete record of the run record in the file; an incomplete line after it is removed. */
int journal_writer_resume(const char *path, const Journal *journal, JournalWriter **ret_writer, char **ret_error);
/* Writes pending records, as far as possible. The file stays. */
void journal_writer_free(JournalWriter *writer);

/* Adds the record to the pending ones; borrowed. */
void journal_writer_add(JournalWriter *writer, const Record *record);
/* The same in parts: the text that is appended in between is the JSON of the details. */
GString *journal_writer_begin(JournalWriter *writer, uint64_t time, RecordKind kind, NodeId node);
void journal_writer_end(JournalWriter *writer);
/* Writes the pending records to the kernel. At the first failure, a negative errno with an error message: the file is
 * deleted, and nothing is written from then on. */
int journal_writer_flush(JournalWriter *writer, char **ret_error);

/* True if a snapshot is due. */
bool journal_writer_is_due(const JournalWriter *writer);
/* Adds the snapshot and writes it, as journal_writer_add() and journal_writer_flush() do. */
int journal_writer_add_snapshot(JournalWriter *writer, const Record *record, char **ret_error);
/* Writes a snapshot as the last record, after all others were flushed, and closes the file. On failure, the run record
 * stays as it was, because readers ignore an incomplete last line. */
int journal_writer_close(JournalWriter *writer, const Record *record, char **ret_error);
/* Sets the distance between snapshots in all run records, if the snapshots are smaller; 0: derived from the size limit.
 * For tests. */
void journal_writer_set_part(uint64_t bytes);

const char *journal_writer_path(const JournalWriter *writer);
uint64_t journal_writer_size(const JournalWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JournalWriter, journal_writer_free)
