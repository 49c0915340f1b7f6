/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs jobs that write to a disk, one after the other in the order in which they were added, on a thread of their own.
 * So the main loop does not wait for the disk. Each job can have a second part, which runs on the main loop when the
 * job is done. Files on a tmpfs do not need this, because writing to them does not wait for a disk.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/timers.h"

typedef struct DiskQueue DiskQueue;

typedef struct DiskJob {
        char *what;               /* for messages: "run numbers to /var/lib/btd/numbers"; freed with the job */
        void (*work)(void *data); /* on the thread; uses only its data */
        void (*done)(void *data); /* on the main loop */
        GDestroyNotify free;      /* frees the data, or NULL; on either thread, also if the job was dropped */
        void *data;
} DiskJob;

/* A job that takes longer is reported as late. */
#define DISK_QUEUE_LATE_USEC UINT64_C(1000000)

/* late_changed is called when the result of disk_queue_late() has changed. */
DiskQueue *disk_queue_new(GMainContext *context, Timers *timers, void (*late_changed)(void *userdata), void *userdata);
/* Drops jobs that have not begun, and does not wait for the current job. */
void disk_queue_free(DiskQueue *queue);

/* Only on the main loop. Takes the contents of the job. */
void disk_queue_add(DiskQueue *queue, const DiskJob *job);
/* Waits until all jobs are done, including their done() callbacks, but not longer than usec. False: jobs are left. */
bool disk_queue_finish(DiskQueue *queue, uint64_t usec);

/* Returns which job the disk has not completed for long, such as "the disk has not answered for 12s: run numbers to
 * FILE". The caller frees it. NULL: no job is late. */
char *disk_queue_late(const DiskQueue *queue);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DiskQueue, disk_queue_free)
