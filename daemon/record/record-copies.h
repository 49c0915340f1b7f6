/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Copies the run records of running runs to the disk. A run whose end btd has not seen is in the history because of its
 * copy: after a power failure, or if btd had been stopped when the machine went down. No run is continued from a copy,
 * which may be old. record-store.c uses it.
 *
 * A run record is copied a minute after the start of the run. If it changes later, it is copied again, each time after
 * twice as long, up to an hour, so that a disk that wears out is seldom written. If btd was killed or restarted
 * before that, the next one copies the record at once.
 */

#include <glib.h>

#include "basic/disk-queue.h"

typedef struct RecordCopies RecordCopies;

/* In the directory of the run records, the copy of a run that has no record any more has the name of the run with this
 * at its end. No run has such a name. */
#define RECORD_LOST ".lost"

/* from: the directory of the run records. directory: that of the copies, which is created when the first one is made.
 */
RecordCopies *record_copies_new(const char *directory, const char *from, DiskQueue *disk, Timers *timers);
void record_copies_free(RecordCopies *copies);

/* Finds the copies that the previous btd left; call it once. One whose run has no record, and is not in the history,
 * is moved to RECORD_LOST. Records without a copy become due. */
void record_copies_read(RecordCopies *copies, bool (*is_archived)(const char *run, void *userdata), void *userdata);

/* The record of the run has changed, so its copy is old. copies, here and below: or NULL. */
void record_copies_change(RecordCopies *copies, const char *run);
/* The run needs no copy any more: it has finished. */
void record_copies_drop(RecordCopies *copies, const char *run);
/* Copies the records of all runs at once: there may be no next btd before the machine goes down. */
void record_copies_hurry(RecordCopies *copies);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RecordCopies, record_copies_free)
