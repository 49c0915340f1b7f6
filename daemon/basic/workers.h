/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Runs work on threads beside the main loop: work that takes long to compute, or may wait for a disk or a name
 * service. Each piece of work has its own thread and its own data. The loop copies the input before the work begins,
 * and takes the result after it has ended. A disk that hangs delays only the work that reads from it.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Workers Workers;
typedef struct Work Work;

typedef struct WorkKind {
        const char *what;                         /* for messages: "a reload" */
        void (*run)(Work *work, void *data);      /* in the thread; nothing else uses the data meanwhile */
        void (*done)(void *data, void *userdata); /* on the main loop */
        void (*free)(void *data);                 /* on the main loop; after done(), or instead of it */
} WorkKind;

/* max: how many threads run at once; further work waits. Starting a thread costs some tens of microseconds. */
Workers *workers_new(GMainContext *context, unsigned max);
/* Waits only a short time for running threads. A thread that still runs after that, because its disk hangs, keeps its
 * data. */
void workers_free(Workers *workers);

/* Borrows the kind, takes the data. Only run() can be called before this function returns. */
Work *workers_start(Workers *workers, const WorkKind *kind, void *data, void *userdata);
/* Discards the result: done() will not be called. Do not call this after done(). NULL: does nothing. */
void work_drop(Work *work);

/* Call it from run() before reading a file or directory. NULL: reading has ended. */
void work_reads(Work *work, const char *path);
/* Call it from run() regularly. True: run() can return early. */
bool work_is_dropped(Work *work);

/* A piece of work that waits for a disk, or another file. */
typedef struct WorkWait {
        const char *what;
        char *path;
        uint64_t since; /* CLOCK_MONOTONIC µs */
} WorkWait;

/* Lists work that has been reading the same file for longer than usec, as an array of WorkWait. */
GArray *workers_waits(Workers *workers, uint64_t usec);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Workers, workers_free)
