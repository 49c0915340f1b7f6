/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the listed runs: all unfinished ones, and the last finished ones.
 */

#include "run/run.h"

/* Number of finished runs that are kept; the user who has the most loses the oldest. */
#define RUNS_FINISHED_MAX 64u

typedef struct Runs Runs;

/* removed: called before a run is freed, while it is still listed. */
Runs *runs_new(void (*removed)(Run *run, void *userdata), void *userdata);
/* Frees all runs without calling removed(). */
void runs_free(Runs *runs);

/* Takes a running run. */
void runs_add(Runs *runs, Run *run);
/* The run has finished; may remove an older one. */
void runs_finished(Runs *runs, Run *run);
void runs_remove(Runs *runs, Run *run);

/* NULL: there is no such run. */
Run *runs_get(const Runs *runs, const char *id);
Run *runs_last(const Runs *runs, const char *tree, const char *instance);
const char *runs_nearest(const Runs *runs, const char *id);

/* In order of start. */
const GPtrArray *runs_list(const Runs *runs);
unsigned runs_n_running(const Runs *runs);
/* Counts the runs and the size of the run records of each user. */
void runs_count(const Runs *runs, Users *users);
/* Removes finished runs of the user, the oldest first, until the variables of the others have this room, or none is
 * left. */
void runs_make_room(Runs *runs, const User *user, uint64_t bytes);
/* Of one user. */
unsigned runs_n_running_of(const Runs *runs, uint32_t uid);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Runs, runs_free)
