/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The runs that are to follow those that have ended by themselves, by tree and instance: when, and how many more there
 * may be.
 */

#include "basic/timers.h"
#include "runtime/run.h"

typedef struct Restarts Restarts;

/* directory: where a daemon that is restarted finds them, or NULL. due: start it now, with the variables (an object or
 * NULL) that the one before was started with; answers why it cannot be, as a text to be freed, or NULL. */
Restarts *restarts_new(Timers *timers, const char *directory,
                       char *(*due)(const char *tree, const char *instance, json_object *variables, void *userdata),
                       void *userdata);
void restarts_free(Restarts *restarts);

/* Those that the daemon before has left; once. */
void restarts_recover(Restarts *restarts);

/* The tree runs: it does not have to be started any more. */
void restarts_begun(Restarts *restarts, const char *tree, const char *instance);
/* Those that are to come are left to the next daemon. */
void restarts_leave(Restarts *restarts);

/* The run has ended. What follows is what restarts_describe() says then; of a run that was halted, nothing. */
void restarts_consider(Restarts *restarts, const Run *run);

/* None follows, and how many there were is forgotten. True: one would have. */
bool restarts_cancel(Restarts *restarts, const char *tree, const char *instance);
/* The same for all of the tree, or, NULL, of all trees. How many would have followed. */
unsigned restarts_cancel_all(Restarts *restarts, const char *tree);
/* Unless one is to follow, how many there were is forgotten. */
void restarts_forget(Restarts *restarts, const char *tree, const char *instance);

/* "restarts in 3s (attempt 2 of 5)", or why it does not any more. To be freed; NULL: nothing to say. */
char *restarts_describe(const Restarts *restarts, const char *tree, const char *instance);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Restarts, restarts_free)
