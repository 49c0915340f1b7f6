/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the directories of run records. Run records of unfinished runs are in the runtime directory, which exists as
 * long as the machine is up; those of finished runs are in the archive. The runtime directory is a tmpfs, so writing
 * there never waits. That matters, because a record must be written before its effects happen.
 */

#include "record/archive.h"
#include "record/journal-writer.h"

typedef struct Journals Journals;

/* Both directories may be NULL. Without the first, runs do not survive a restart of btd; without the second, there is
 * no archive. */
Journals *journals_new(const char *runtime_directory, const char *state_directory, DiskQueue *disk, Timers *timers);
void journals_free(Journals *journals);

/* NULL: there is no archive. */
Archive *journals_archive(const Journals *journals);

/* Reserves the runtime directory for this btd as long as it lives, and lists the run records. -EBUSY: another btd uses
 * the directory, with an error message; others: as open(). */
int journals_claim(Journals *journals, char **ret_error);
/* Check that only root or btd's own user can have written the run records. A run record contains a tree, so it is as
 * powerful as a tree file. -EPERM: with an error message. */
int journals_check_trusted(const Journals *journals, char **ret_error);

/* Are run records kept? */
bool journals_are_kept(const Journals *journals);
/* Is there a run record of a finished run with this name? */
bool journals_have(const Journals *journals, const char *run);
/* Creates the run record of a new run. Returns a negative errno with an error message. */
int journals_begin(Journals *journals, JournalHeader *header, JournalWriter **ret_writer, char **ret_error);
/* The run records of unfinished runs that the previous btd left: paths in no order. The caller frees the array and the
 * paths. */
GPtrArray *journals_list(const Journals *journals);
/* Limits for run records that were set aside. */
#define JOURNALS_ASIDE_MAX 20u
#define JOURNALS_ASIDE_SIZE_MAX (UINT64_C(64) << 20)
/* Moves a run record that cannot be recovered to a separate directory. May remove the oldest ones there. Returns the
 * new path, for messages; the caller frees it. */
char *journals_set_aside(Journals *journals, const char *path, const char *suffix);

/* Moves the run record of a finished run to the archive, or removes it if there is no archive. It must be closed, and
 * all effects of the end must be done. bytes: its size. Takes the contents of the summary. */
void journals_finish(Journals *journals, JournalSummary *summary, uint64_t bytes);

/* Writes the archive to the disk as soon as possible, also what is added later. */
void journals_hurry(Journals *journals);

/* Reads up to size bytes of a run record, from the given offset; no bytes: the end of the file. Works for unfinished
 * and finished runs. Created on the main loop, run on any thread. -ENOENT: there is no such run record; others: it
 * cannot be read; each with an error message. */
typedef struct JournalsRead JournalsRead;

JournalsRead *journals_read_new(const Journals *journals, const char *run, uint64_t offset, size_t size);
/* work: the worker that runs it, or NULL. */
int journals_read_run(JournalsRead *read, Work *work, GByteArray **ret_bytes, char **ret_error);
/* The error message for a run without a run record. The caller frees it. */
char *journals_no_such(const char *run);
void journals_read_free(JournalsRead *read);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Journals, journals_free)
