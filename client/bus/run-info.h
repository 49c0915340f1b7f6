/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes a run as btd reports it.
 */

#include <json-c/json_object.h>

#include "client/bus/client.h"
#include "run/run.h"

typedef struct RunInfo {
        char *id, *path;       /* path NULL: a finished run that is no longer an object on the bus */
        char *tree, *instance; /* instance: empty for the plain one */
        char *status;
        uint64_t started, finished; /* CLOCK_REALTIME µs; finished 0: not yet */
        uint64_t ready;             /* ... 0: not yet; UINT64_MAX: not known */
        uint64_t as_of;             /* ... the time that this describes; 0: now */
        char *cause;                /* empty: none */
        char *restart;              /* about a restart of the run; empty: none */
        char *not_durable;          /* why a restart of btd would end it; empty: it would not; NULL: unknown */
        bool tree_changed;          /* since the start of the run; false also if unknown */
        json_object *outputs;       /* of a finished run, an object; NULL: none, or unknown */
        bool is_counted;            /* false: the counts are unknown */
        RunCounts counts;
} RunInfo;

void run_info_free(RunInfo *run);

/* Gets the fields that lists do not have. */
int run_info_complete(Client *client, RunInfo *run);

/* All runs, oldest first. */
int run_info_list(Client *client, GPtrArray **ret_runs);
/* The finished runs whose run record is kept, in the order of their ends. tree NULL: of all trees. */
int run_info_list_past(Client *client, const char *tree, GPtrArray **ret_runs);

/* The last run with a token. The strings are borrowed from the reply. */
typedef struct RunOutcome {
        const char *id, *path, *status, *cause;
        uint64_t finished; /* 0: not finished */
        int restarting;    /* it has finished, and another run follows */
} RunOutcome;

/* Prints nothing. Returns a negative errno of sd-bus, and sets the error, which may be NULL. */
int run_info_get_outcome(const Client *client, const char *tree, const char *instance, const char *token,
                         sd_bus_error *error, sd_bus_message **ret_reply, RunOutcome *ret_outcome);

/* The outputs of a run that has ended: a new object; NULL: it has none, or btd does not know. Prints nothing. */
json_object *run_info_get_outputs(const Client *client, const char *id);

bool run_info_has_finished(const RunInfo *run);
/* How long it took, or has been running so far. */
uint64_t run_info_duration(const RunInfo *run);
/* How long a run took that has just finished, as btd says; otherwise: if btd does not list the run any more. */
uint64_t run_info_get_duration(const Client *client, const char *id, uint64_t otherwise);
/* "boot.3", or "boot.3 (eth0)". */
char *run_info_title(const RunInfo *run);

json_object *run_info_to_json(const RunInfo *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunInfo, run_info_free)
