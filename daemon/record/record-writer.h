/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Writes a run record. Entries are collected and written to the kernel together, so they survive if the daemon is
 * killed. They are not synced to disk, since no run survives a reboot. The execution of a run uses it.
 *
 * If a run record cannot be written, or exceeds its size limit, it is deleted, because an incomplete one would lead to
 * a wrong recovery.
 *
 * To limit its size, a snapshot of the run is written from time to time, and only the last two snapshots and the
 * entries since then are kept: a new file replaces the old one.
 */

#include "basic/limit.h"
#include "record/run-record.h"

typedef struct RecordWriter RecordWriter;

/* Creates the file, which must not exist, and takes the files_text of the header. The header is written together with
 * the first entries, and gets the size limit, which applies as long as the run runs. A negative errno with an error
 * message. */
int record_writer_create(const char *path, RecordHeader *header, const Limits *limits, RecordWriter **ret_writer,
                         char **ret_error);
/* Continues after the last complete block of the run record in the file; an incomplete one after it is removed. */
int record_writer_resume(const char *path, const RunRecord *record, RecordWriter **ret_writer, char **ret_error);
/* Writes pending entries, as far as possible. The file stays. */
void record_writer_free(RecordWriter *writer);

/* Adds the entry to the pending ones, as a block of its own; borrowed. */
void record_writer_add(RecordWriter *writer, const Entry *entry);
/* Begins an entry of the block that ends with the next flush. The JSON of its details, after a space, is to be appended
 * to the returned text, before anything else is called. */
GString *record_writer_begin(RecordWriter *writer, uint64_t time, EntryKind kind, NodeId node);
/* Writes the pending entries to the kernel. At the first failure, a negative errno with an error message: the file is
 * deleted, and nothing is written from then on. */
int record_writer_flush(RecordWriter *writer, char **ret_error);

/* True if a snapshot is due. */
bool record_writer_is_due(const RecordWriter *writer);
/* Adds the snapshot and writes it, as record_writer_add() and record_writer_flush() do. */
int record_writer_add_snapshot(RecordWriter *writer, const Entry *entry, char **ret_error);
/* Writes a snapshot as the last entry, after all others were flushed, and closes the file. On failure, the run record
 * stays as it was, because readers ignore an incomplete last line. */
int record_writer_close(RecordWriter *writer, const Entry *entry, char **ret_error);
/* Sets the distance between snapshots in all run records, if the snapshots are smaller; 0: derived from the size limit.
 * For tests. */
void record_writer_set_part(uint64_t bytes);

/* Stores what the record leaves out, see secret-file.h; it is removed with the record, or by
 * record_writer_drop_secrets() when the run has finished. */
int record_writer_store_secrets(RecordWriter *writer, const GString *lines);
char *record_writer_read_secrets(RecordWriter *writer, uint64_t max);
void record_writer_drop_secrets(RecordWriter *writer);

uint64_t record_writer_size(const RecordWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordWriter, record_writer_free)
