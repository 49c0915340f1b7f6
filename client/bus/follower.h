/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Prints the events of runs as they happen, for follow, monitor and start --follow: each event once, in the order of
 * their numbers. It reads from btd what the signals lack.
 */

#include "client/bus/run-info.h"
#include "run/events.h"

typedef struct Follower Follower;

/* all: follow all runs, with the time of day, from now on; else those that are added, with the time since their start,
 * from their first event on. */
Follower *follower_new(Client *client, bool all);
void follower_free(Follower *follower);

/* Asks btd for the signals; to be called for each btd. Returns an exit status. */
int follower_subscribe(Follower *follower);

/* Adds a run; does nothing if it is known. */
void follower_add(Follower *follower, const char *run);
/* Adds a run whose events up to that number are not wanted. */
void follower_add_after(Follower *follower, const char *run, uint64_t number);
/* Calls back with each event instead of printing it. path: of its node, or NULL; time: CLOCK_REALTIME µs. Events that
 * signals lack are only read by follower_catch_up(): a view on a slow line would ask for them all the time. */
typedef void (*FollowerObserver)(const char *run, const char *path, uint64_t time, const RunEvent *event,
                                 void *userdata);
void follower_observe(Follower *follower, FollowerObserver observer, void *userdata);
/* Adds a run whose events so far are not printed. */
void follower_add_from_now(Follower *follower, const RunInfo *run);
/* Prints the run's id before its events, if there are several runs. */
void follower_set_named(Follower *follower);
/* Prints the events that are not printed yet: those before the first signal, or missed ones. */
void follower_catch_up(Follower *follower, const char *run);
/* The same for all runs whose end is not printed yet. */
void follower_catch_up_all(Follower *follower);
/* Handles the signal Events. */
void follower_handle(Follower *follower, sd_bus_message *signal);
/* The run has finished. True: its result has been printed. */
bool follower_finish(Follower *follower, const char *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Follower, follower_free)
