/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the number of the last run of each tree. It is stored in a file of the state directory, so that names of runs
 * and of their units are not used again after btd or the machine was restarted, also after a power failure. Numbers
 * are reserved in blocks, and used only when the block is on the disk. If btd does not stop regularly, the rest of the
 * block stays unused.
 */

#include "basic/disk-queue.h"

typedef struct RunCounter RunCounter;

/* directory: NULL: count in memory only. fallback: a directory that lasts until the next boot, for when the other
 * cannot be written; or NULL. reserved: called when a tree without numbers has got some. */
RunCounter *run_counter_new(const char *directory, const char *fallback, DiskQueue *disk,
                            void (*reserved)(void *userdata), void *userdata);
void run_counter_free(RunCounter *counter);

/* Is a number available for the tree? If not, one is requested, and reserved() is called, also if the disk fails. */
bool run_counter_has(RunCounter *counter, const char *tree);
/* The next number, from 1. Only after run_counter_has() returned true. */
uint64_t run_counter_next(RunCounter *counter, const char *tree);
/* The last number that was given, or that a previous btd may have given; 0: none. */
uint64_t run_counter_last(const RunCounter *counter, const char *tree);
/* Returns reserved but unused numbers, when btd stops. */
void run_counter_give_back(RunCounter *counter);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunCounter, run_counter_free)
