/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A journal that is being written. Records are collected and handed to the kernel together, which keeps them if the
 * daemon is killed; nothing is forced to the disk, since nothing of a run outlives the machine.
 *
 * A journal that could not be written on, or that has become too large, is of no use any more, and would even do harm:
 * it is deleted.
 *
 * So that it does not become too large, all that the run has come to is written down from time to time, and what was
 * before the last time but one is cut off: another file takes the place of the first.
 */

#include "journal/journal.h"

typedef struct JournalWriter JournalWriter;

/* A new file, which must not be there. A negative errno with a text for people. */
int journal_writer_create(const char *path, const JournalHeader *header, JournalWriter **ret_writer, char **ret_error);
/* Goes on behind what is whole of the journal in the file; what comes after that is cut off. */
int journal_writer_resume(const char *path, const Journal *journal, JournalWriter **ret_writer, char **ret_error);
/* Writes what is left, as far as it can. The file stays. */
void journal_writer_free(JournalWriter *writer);

/* Collects the record; borrowed. */
void journal_writer_add(JournalWriter *writer, const Record *record);
/* Where they are collected: for record_begin() and record_end(). */
GString *journal_writer_text(JournalWriter *writer);
/* Hands what was collected to the kernel. A negative errno once, with a text for people: the file is gone then, and
 * from then on there is nothing to write. */
int journal_writer_flush(JournalWriter *writer, char **ret_error);

/* Is it time for a snapshot? */
bool journal_writer_is_due(const JournalWriter *writer);
/* As journal_writer_add() and journal_writer_flush(). */
int journal_writer_add_snapshot(JournalWriter *writer, const Record *record, char **ret_error);
/* How much there is between two of them in all journals, unless they are large themselves; 0: as it follows from how
 * large a journal may become. For tests. */
void journal_writer_set_part(uint64_t bytes);

const char *journal_writer_path(const JournalWriter *writer);
uint64_t journal_writer_size(const JournalWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JournalWriter, journal_writer_free)
