/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the autostart trees: the last run of each since it was started in this boot, and which trees are still to be
 * started. A tree is started again only if that run was halted because btd stopped. Instances do not matter.
 */

#include "basic/timers.h"
#include "run/run.h"

typedef struct Autostarts Autostarts;

typedef struct AutostartsCallbacks {
        /* Start the tree. True: the id of the run (borrowed) is in ret_run. False: it cannot be started now; ret_why
         * (taken by the caller): why, or NULL if this takes a moment only. */
        bool (*start)(const char *tree, const char **ret_run, char **ret_why, void *userdata);
        /* autostarts_describe() gives another text now. */
        void (*changed)(const char *tree, void *userdata);
} AutostartsCallbacks;

/* directory: where this is stored for the next btd, or NULL. */
Autostarts *autostarts_new(Timers *timers, const char *directory, const AutostartsCallbacks *callbacks, void *userdata);
void autostarts_free(Autostarts *autostarts);

/* Reads what the previous btd stored; call it once. */
void autostarts_recover(Autostarts *autostarts);

/* The tree is to be started, unless it was. */
void autostarts_want(Autostarts *autostarts, const char *tree);
/* The tree is no autostart tree any more. */
void autostarts_unwant(Autostarts *autostarts, const char *tree);
/* Starts all trees that can be started now. Those that cannot stay until they can, or until autostarts_drop(). */
void autostarts_continue(Autostarts *autostarts);
/* Does any tree wait to be started? */
bool autostarts_wait(const Autostarts *autostarts);
/* Is the tree known to be an autostart tree in this boot: was it started, or does it wait? */
bool autostarts_know(const Autostarts *autostarts, const char *tree);
/* Adds the names of the trees that autostarts_describe() describes. */
void autostarts_list(const Autostarts *autostarts, GPtrArray *names);
/* Is there a tree that can be started in a moment? */
bool autostarts_are_due(const Autostarts *autostarts);
/* A run of the tree was started, and its record exists. wanted: its tree has autostart; a user may have started it
 * first. True: the tree has waited to be started. */
bool autostarts_begun(Autostarts *autostarts, const char *tree, const char *run, bool wanted);
/* A user has halted the tree: it does not wait to be started any more. True: it did. */
bool autostarts_drop(Autostarts *autostarts, const char *tree);
/* btd stops with all its runs: the next one begins as after a boot. */
void autostarts_begin_anew(Autostarts *autostarts);
/* The run has finished, and its record is still that of an unfinished run. again: it was halted because btd stopped,
 * so its tree waits to be started again. */
void autostarts_finished(Autostarts *autostarts, const Run *run, bool again);

/* Why the tree waits to be started, to be freed; NULL: it does not wait. */
char *autostarts_describe(const Autostarts *autostarts, const char *tree);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Autostarts, autostarts_free)
