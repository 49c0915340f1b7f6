/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns what on_finished has ordered: the units and trees that are to be started because a run has finished. An order
 * stays pending until it was carried out, or a user cancels it. Each is carried out once: its run has a token that
 * follows from the run that has finished.
 */

#include "basic/timers.h"
#include "record/record-header.h"
#include "runtime/restarts.h"

/* The tree whose runs start units. Its input is the unit. */
#define FOLLOWER_TREE "on_finished"
#define FOLLOWER_UNIT "unit"

typedef struct Followers Followers;

typedef struct FollowersCallbacks {
        /* Start it now. True: the id of the run is in ret_run (taken); NULL: nothing needs to be started any more.
         * False: not possible yet; ret_why (taken): why, or NULL if this takes a moment only. */
        bool (*start)(const Order *order, char **ret_run, char **ret_why, void *userdata);
        /* Does the series of runs with this token continue? */
        bool (*is_live)(const char *tree, const char *instance, const char *token, void *userdata);
        /* followers_describe() gives another text for the run now, and followers_describe_waiting() for the tree. */
        void (*changed)(const char *run, const char *tree, void *userdata);
} FollowersCallbacks;

/* directory: where orders are stored for the next btd, or NULL. rules: for the runs of all trees, see on-finished.h; or
 * NULL. */
Followers *followers_new(Timers *timers, const char *directory, json_object *rules, const FollowersCallbacks *callbacks,
                         void *userdata);
void followers_free(Followers *followers);
/* Reads what the previous btd stored; call it once. */
void followers_recover(Followers *followers);

/* The run has finished and is not restarted, and its record is still that of an unfinished run. orders: its tree may
 * start others. Call followers_continue() afterwards. */
void followers_finished(Followers *followers, const Run *run, bool orders);
/* The run is lost, and its record is still that of an unfinished run. definition: its tree. Call followers_continue()
 * afterwards. */
void followers_lost(Followers *followers, const RecordHeader *header, const Definition *definition, const char *cause);
/* Forgets orders that have started a run if that has ended in another way: its restart was cancelled, or it was lost.
 */
void followers_prune(Followers *followers);
/* Starts all that can be started now. */
void followers_continue(Followers *followers);
/* Is anything to be started? */
bool followers_wait(const Followers *followers);
/* A user cancels the pending starts after this run, or of this tree and instance (NULL: all). Returns how many. */
unsigned followers_cancel(Followers *followers, const char *run, const char *tree, const char *instance);

/* "then starts pager, notify@boot.3.service". The caller frees it. NULL: nothing. */
char *followers_describe(const Followers *followers, const char *run);
/* Describes the first start of the tree that waits: "start after boot.3 waits: ...". The caller frees the text. NULL:
 * no start waits. */
char *followers_describe_waiting(const Followers *followers, const char *tree);
/* Adds the names of the trees of which a start waits. */
void followers_list(const Followers *followers, GPtrArray *names);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Followers, followers_free)
