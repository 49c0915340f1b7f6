/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits for the ends of runs, for wait, follow, halt, restart, start and run: also over a restart of btd or of the bus.
 */

#include "client/bus/run-info.h"

typedef enum WaitingFor {
        WAITING_RESULTS, /* print the results; the exit status is that of the first run that did not succeed */
        WAITING_HALTS,   /* print the ends as events; runs that have finished are a success */
        WAITING_QUIETLY, /* the same, without printing */
        WAITING_EVENTS,  /* as for WAITING_RESULTS, but print all events, also earlier ones */
} WaitingFor;

typedef struct Waiting Waiting;

Waiting *waiting_new(Client *client, WaitingFor what);
void waiting_free(Waiting *waiting);

/* Connects to the bus and watches: no end after this is missed. While the connection is open, does nothing; else makes
 * another one. ret_is_new: it did; may be NULL. */
int waiting_connect(Waiting *waiting, bool *ret_is_new);
bool waiting_is_connected(const Waiting *waiting);

/* The runs are waited for in the order of these calls. operand: for messages. token: also wait for the runs that follow
 * by 'restart', see GetOutcome; NULL: only for this run. */
void waiting_add(Waiting *waiting, const char *operand, const RunInfo *run, const char *token);
/* The same for a run of which only the id is known. */
void waiting_add_id(Waiting *waiting, const char *operand, const char *id);

/* Waits until all runs have finished. Returns an exit status. */
int waiting_wait(Waiting *waiting);

/* Waits for one run, which start() starts: start() calls waiting_add_started(), and returns an exit status. It is
 * called again when a run that was halting has finished, and, with --attach, when a btd that was not running is there.
 * In a unit with --attach, the service manager gets what the run does. Returns an exit status. */
int waiting_start(Client *client, WaitingFor what, int (*start)(Waiting *waiting, void *userdata), void *userdata);
/* token: as for waiting_add(). is_new: this call has started the run. again: the run is another caller's, and is
 * halting: start again when it has finished. */
void waiting_add_started(Waiting *waiting, const RunInfo *run, const char *token, bool is_new, bool again);

/* Finds a finished run in the history; NULL: it is not there, or the history cannot be read. */
RunInfo *waiting_find_past(Client *client, const char *id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Waiting, waiting_free)
