/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What btd tells of a run.
 */

#include <json-c/json_object.h>

#include "client.h"

typedef struct RunInfo {
        char *id, *path;       /* path NULL: it is of the past, and no object any more */
        char *tree, *instance; /* instance: empty for the plain one */
        char *status;
        uint64_t started, finished; /* CLOCK_REALTIME µs; finished 0: not yet */
        uint64_t seen;              /* ... that it was so then; 0: it is so now */
        char *cause;                /* empty: nothing to say */
        char *restart;              /* whether another one follows; empty: nothing to say */
        char *not_durable;          /* why a restart of btd would end it; empty: nothing to say; NULL: not asked for */
        bool tree_changed;          /* since it was started; false: also not asked for */
} RunInfo;

void run_info_free(RunInfo *run);

/* What only one that is looked at closely is asked for. */
int run_info_complete(Client *client, RunInfo *run);

/* All runs, oldest first. */
int run_info_list(Client *client, GPtrArray **ret_runs);
/* Those that have finished and whose journal is kept, in order of their end; of that tree, or of all: "". */
int run_info_list_past(Client *client, const char *tree, GPtrArray **ret_runs);

bool run_info_is_over(const RunInfo *run);
/* How long it took, or has been running. */
uint64_t run_info_duration(const RunInfo *run);
/* "boot.3", or "boot.3 (eth0)". */
char *run_info_title(const RunInfo *run);

json_object *run_info_to_json(const RunInfo *run);
json_object *run_info_list_to_json(const GPtrArray *runs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunInfo, run_info_free)
