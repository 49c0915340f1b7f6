/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The runs that are listed: those that run, and of those that have finished the last ones.
 */

#include "runtime/run.h"

/* How many that have finished stay, the oldest go first. */
#define RUNS_FINISHED_MAX 64u

typedef struct Runs Runs;

/* removed: one is about to be freed, still listed. */
Runs *runs_new(void (*removed)(Run *run, void *userdata), void *userdata);
/* Frees them all, without telling. */
void runs_free(Runs *runs);

/* Takes the run, which is running. */
void runs_add(Runs *runs, Run *run);
/* It has finished; another one may go for it. */
void runs_finished(Runs *runs, Run *run);
void runs_remove(Runs *runs, Run *run);

/* NULL: there is none. */
Run *runs_get(const Runs *runs, const char *id);
Run *runs_last(const Runs *runs, const char *tree, const char *instance);
const char *runs_nearest(const Runs *runs, const char *id);

/* In order of start. */
const GPtrArray *runs_list(const Runs *runs);
unsigned runs_n_running(const Runs *runs);
/* Of one user. */
unsigned runs_n_running_of(const Runs *runs, uint32_t uid);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Runs, runs_free)
