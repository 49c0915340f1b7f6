/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A journal that is being written. Records are collected and handed to the kernel together, which keeps them if the
 * daemon is killed; nothing is forced to the disk, since nothing of a run outlives the machine.
 *
 * A journal that could not be written on, or that has become too large, is of no use any more, and would even do harm:
 * it is deleted.
 */

#include "journal/journal-header.h"
#include "journal/record.h"

typedef struct JournalWriter JournalWriter;

/* A new file, which must not be there. A negative errno with a text for people. */
int journal_writer_create(const char *path, const JournalHeader *header, JournalWriter **ret_writer, char **ret_error);
/* Goes on behind the first size bytes of the file; what comes after them is cut off. */
int journal_writer_resume(const char *path, uint64_t size, JournalWriter **ret_writer, char **ret_error);
/* Writes what is left, as far as it can. The file stays. */
void journal_writer_free(JournalWriter *writer);

/* Collects the record; borrowed. */
void journal_writer_add(JournalWriter *writer, const Record *record);
/* Where they are collected: for record_begin() and record_end(). */
GString *journal_writer_text(JournalWriter *writer);
/* Hands what was collected to the kernel. A negative errno once, with a text for people: the file is gone then, and
 * from then on there is nothing to write. */
int journal_writer_flush(JournalWriter *writer, char **ret_error);

const char *journal_writer_path(const JournalWriter *writer);
uint64_t journal_writer_size(const JournalWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(JournalWriter, journal_writer_free)
