/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The number of the last run of each tree. Kept in files where there is a directory for them, so that the names of
 * runs, and of the units that they have made, are not used again by a daemon that was started anew.
 */

#include <glib.h>
#include <stdint.h>

typedef struct RunCounter RunCounter;

/* directory: NULL to count in memory alone. */
RunCounter *run_counter_new(const char *directory);
void run_counter_free(RunCounter *counter);

/* From 1. */
uint64_t run_counter_next(RunCounter *counter, const char *tree);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunCounter, run_counter_free)
