/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the run records of finished runs. Their number, size and age are limited, see basic/limit.h; the oldest are
 * removed first. Each user other than root has a share, and all of them together have a half. The last run of each tree
 * stays, as long as its age permits and there is another run to be removed. Order and age do not depend on the wall
 * clock, see up-clock.h. The run records are written in a directory on a tmpfs, and moved to the disk in groups by
 * the disk queue, normally within a second. Until then they are part of the archive too; they survive a restart of btd,
 * but not of the machine.
 */

#include "basic/disk-queue.h"
#include "basic/limit.h"
#include "basic/users.h"
#include "basic/workers.h"
#include "record/run-record.h"
#include "record/up-clock.h"

typedef struct Archive Archive;

/* from: the directory on the tmpfs. directory: the directory on the disk; it is created when the first group is moved.
 * The limits are borrowed, as the users (or NULL), the disk queue, the timers and the clock are. */
Archive *archive_new(const char *directory, const char *from, const Limits *limits, Users *users, DiskQueue *disk,
                     Timers *timers, UpClock *clock);
void archive_free(Archive *archive);
/* Reads both directories; call it once. */
void archive_read(Archive *archive);

/* Adds a run record of the given size. Takes the contents of the summary. May remove the oldest run records. While the
 * disk does not take it, it stays on the tmpfs, and the error is logged once. */
void archive_add(Archive *archive, RunSummary *summary, uint64_t bytes);
/* Writes everything to the disk at once, also run records that are added later. */
void archive_hurry(Archive *archive);

/* Reads on a thread what archive_get() and archive_find_token() give, because the main loop must not wait for a disk.
 * Created on the main loop, run on any thread, taken on the main loop. */
typedef struct ArchiveReading ArchiveReading;

/* Have the summaries of all runs of this tree been read? tree NULL: of all trees. */
bool archive_is_read(const Archive *archive, const char *tree);
ArchiveReading *archive_reading_new(const Archive *archive);
void archive_reading_run(ArchiveReading *reading, Work *work); /* work: the worker that runs it, or NULL */
void archive_take(Archive *archive, ArchiveReading *reading);
void archive_reading_free(ArchiveReading *reading);

/* The number of run records, and their size. */
unsigned archive_count(const Archive *archive);
uint64_t archive_bytes(const Archive *archive);

bool archive_has(const Archive *archive, const char *run);
/* The names of all runs in the archive, oldest first. The caller frees the array and the names. */
GPtrArray *archive_list(Archive *archive);
/* The summary of one run, which must have been read, with the status "damaged" if its run record is damaged. NULL: the
 * run is no longer in the archive. */
const RunSummary *archive_get(const Archive *archive, const char *run);
/* The last run of the tree and instance with this token; those of the tree must have been read. NULL: none. */
const RunSummary *archive_find_token(Archive *archive, const char *tree, const char *instance, const char *token);
/* The two paths where the run record can be; it moves from the first to the second. The caller frees each. */
void archive_paths(const Archive *archive, const char *run, char **ret_paths);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Archive, archive_free)
