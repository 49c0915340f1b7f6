/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the directories of run records. Run records of unfinished runs are in the runtime directory, which exists as
 * long as the machine is up; those of finished runs are in the archive. The runtime directory is a tmpfs, so writing
 * there never waits. That matters, because an entry must be written before its effects happen.
 */

#include "record/archive.h"
#include "record/record-copies.h"
#include "record/record-writer.h"
#include "record/run-record.h"
#include "record/tokens.h"

typedef struct RecordStore RecordStore;

/* Both directories may be NULL. Without the first, runs do not survive a restart of btd; without the second, there is
 * no archive. The limits must outlive the store and its writers. */
RecordStore *record_store_new(const char *runtime_directory, const char *state_directory, const Limits *limits,
                              Users *users, DiskQueue *disk, Timers *timers);
void record_store_free(RecordStore *store);

/* NULL: there is no archive. */
Archive *record_store_archive(const RecordStore *store);
Tokens *record_store_tokens(const RecordStore *store);
/* NULL: there is nothing to be copied, or no history for it. */
RecordCopies *record_store_copies(const RecordStore *store);

/* Reserves the runtime directory for this btd as long as it lives, and lists the run records. -EBUSY: another btd uses
 * the directory, with an error message; others: as open(). */
int record_store_lock(RecordStore *store, char **ret_error);
/* Checks that only root or btd's own user can have written the run records. A run record contains a tree, so it is as
 * powerful as a tree file. -EPERM: with an error message. */
int record_store_check_trusted(const RecordStore *store, char **ret_error);

/* Are run records kept? */
bool record_store_are_kept(const RecordStore *store);
/* Is there a run record of a finished run with this name? */
bool record_store_have(const RecordStore *store, const char *run);
/* Creates the run record of a new run. Returns a negative errno with an error message. */
int record_store_begin(RecordStore *store, RecordHeader *header, RecordWriter **ret_writer, char **ret_error);
/* The run records of unfinished runs that the previous btd left: paths in no order; a name with RECORD_LOST is that
 * of a copy, see record-copies.h. The caller frees the array and the paths. */
GPtrArray *record_store_list(const RecordStore *store);
/* Limits for run records that were set aside. */
#define RECORDS_ASIDE_MAX 20u
#define RECORDS_ASIDE_SIZE_MAX (UINT64_C(64) << 20)
/* Moves a run record that cannot be recovered to a separate directory. May remove the oldest ones there. Returns the
 * new path, for messages; the caller frees it. */
char *record_store_set_aside(RecordStore *store, const char *path, const char *suffix);

/* Moves a file, also to another file system: then it is copied to a temporary file, and that is renamed. Returns a
 * negative errno and a message like "cannot be moved to TO: Permission denied"; the file is then still in its old
 * place. */
int record_move(const char *from, const char *to, char **ret_error);

/* Moves the run record of a finished run to the archive, or removes it if there is no archive. It must be closed, and
 * all effects of the end must be done. bytes: its size. Takes the contents of the summary. */
void record_store_finish(RecordStore *store, RunSummary *summary, uint64_t bytes);

/* Writes the archive and the tokens to the disk as soon as possible, also what is added later. */
void record_store_hurry(RecordStore *store);

/* Reads up to size bytes of a run record, from the given offset; no bytes: the end of the file. Works for unfinished
 * and finished runs. Created on the main loop, run on any thread. -ENOENT: there is no such run record; others: it
 * cannot be read; each with an error message. */
typedef struct RecordRead RecordRead;

RecordRead *record_read_new(const RecordStore *store, const char *run, uint64_t offset, size_t size);
/* work: the worker that runs it, or NULL. */
int record_read_run(RecordRead *read, Work *work, GByteArray **ret_bytes, char **ret_error);
/* Reads the whole run record; -EIO: also if it is damaged. */
int record_read_all(RecordRead *read, Work *work, RunRecord **ret_record, char **ret_error);
/* The error message for a run without a run record. The caller frees it. */
char *record_store_no_such(const char *run);
void record_read_free(RecordRead *read);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordStore, record_store_free)
