/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the pending restarts of runs that have ended by themselves, by tree and instance: when they are due, and how
 * many more are allowed. A restart stays pending until it was carried out, the policy ends it, or a user does.
 */

#include "basic/timers.h"
#include "run/run.h"

typedef struct Restarts Restarts;

/* A request to start a run. */
typedef struct Order {
        const char *tree, *instance;
        json_object *variables; /* JSON object, or NULL */
        const char *starter;    /* who starts it, for messages; NULL: a restart */
        const char *token;      /* NULL: the run gets its own */
        uint32_t uid;           /* the owner of the run; for a restart, the owner of the previous run */
        const RunTaken *taken;  /* from another run, or NULL */
        const char *inputs;     /* a checksum of what the caller gives; NULL: unknown */
} Order;

typedef struct RestartsCallbacks {
        /* Start the run now. False: not possible yet, see restarts_retry(); ret_why (taken): why, or NULL if this takes
         * a moment only. */
        bool (*due)(const Order *restart, char **ret_why, void *userdata);
        /* restarts_describe() gives another text now. */
        void (*changed)(const char *tree, const char *instance, void *userdata);
        /* A pending restart was cancelled: no run follows the given one. */
        void (*dropped)(const char *run, const char *tree, const char *instance, void *userdata);
} RestartsCallbacks;

/* directory: where pending restarts are stored for the next btd, or NULL. */
Restarts *restarts_new(Timers *timers, const char *directory, const RestartsCallbacks *callbacks, void *userdata);
void restarts_free(Restarts *restarts);

/* Reads the restarts that the previous btd stored; call it once. */
void restarts_recover(Restarts *restarts);

/* Retries restarts that are due but could not be done yet: something has changed. */
void restarts_retry(Restarts *restarts);

/* A run of the tree was started: removes its pending restart. */
void restarts_begun(Restarts *restarts, const char *tree, const char *instance);
/* Does no more restarts; the next btd does them. Runs that finish from now on can still be scheduled. */
void restarts_leave(Restarts *restarts);

/* The run has ended: schedules a restart, see restarts_describe(). A run that was halted is not restarted. */
void restarts_consider(Restarts *restarts, const Run *run);

/* A user has started the tree: like restarts_begun(), and resets the counter. */
void restarts_replace(Restarts *restarts, const char *tree, const char *instance);
/* Which restarts are meant; NULL: any. */
typedef struct RestartChoice {
        const char *run; /* the previous one */
        const char *tree, *instance, *token;
} RestartChoice;

/* Cancels the pending restarts that are meant; logs why and keeps it for restarts_describe(), if it is given. Also
 * resets the counters of those that are not pending, unless a run or a token is given. Returns how many were pending.
 */
unsigned restarts_cancel(Restarts *restarts, const RestartChoice *choice, const char *why);
/* Is a restart with this token pending? Returns the id of the previous run; else NULL. */
const char *restarts_find_due(const Restarts *restarts, const char *tree, const char *instance, const char *token);
/* Resets the counter, unless a restart is pending. */
void restarts_forget(Restarts *restarts, const char *tree, const char *instance);

/* Is a restart due that could not be done yet? */
bool restarts_wait(const Restarts *restarts);
/* Adds the names of the trees of which a restart without instance is pending. */
void restarts_list(const Restarts *restarts, GPtrArray *names);
typedef struct PendingRestart {
        const char *run; /* the run that it follows */
        const char *instance, *token;
        const char *waits_for; /* it is due, but waits for this; NULL: it does not */
        uint64_t due;          /* CLOCK_MONOTONIC µs */
} PendingRestart;

/* Those of a tree, by the names of their runs: borrowed until the next change; free the array. */
GArray *restarts_of_tree(const Restarts *restarts, const char *tree);
/* How many restarts of a user are pending, except that of this tree and instance, and the bytes of their variables. */
unsigned restarts_of_user(const Restarts *restarts, uint32_t uid, const char *tree, const char *instance,
                          uint64_t *ret_bytes);
/* How many restarts are pending. */
unsigned restarts_count(const Restarts *restarts);

/* "restarts in 3s (attempt 2 of 5)", or why it is not restarted any more. The caller frees it. NULL: no description. */
char *restarts_describe(const Restarts *restarts, const char *tree, const char *instance);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Restarts, restarts_free)
