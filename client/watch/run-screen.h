/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A run on the screen of btctl watch: its tree, and a pane below it with events, variables, causes or lines of the log.
 */

#include "client/bus/follower.h"
#include "client/watch/tree-rows.h"

typedef struct RunScreen RunScreen;

/* Returns an exit status. A run that only the history has is read from its run record. */
int run_screen_new(Client *client, const RunInfo *run, RunScreen **ret_screen);
void run_screen_free(RunScreen *screen);

const RunInfo *run_screen_run(const RunScreen *screen);
/* The node under the cursor, and its path, to be freed. */
uint32_t run_screen_node(RunScreen *screen);
char *run_screen_node_path(RunScreen *screen);

/* Shows an event of the past, though the run goes on. */
bool run_screen_is_back(const RunScreen *screen);
bool run_screen_has_breakpoint(RunScreen *screen);

/* Its state has changed: reads it again before it is drawn. */
void run_screen_refresh(RunScreen *screen);
/* It has finished; btd may exit before it can be read again. */
void run_screen_take_finished(RunScreen *screen, const char *status, const char *cause);
/* The lines of a pane are as long as the screen is wide. */
void run_screen_resize(RunScreen *screen);
/* Reads the run again from btd: at the start, and when signals may have been lost. */
int run_screen_read(RunScreen *screen);
/* The event after which events are to be read: the last one of the pane, but not too long ago. UINT64_MAX: none are. */
uint64_t run_screen_first_event(const RunScreen *screen);
/* The run has finished, and btd has events that the pane lacks. */
bool run_screen_lacks_end(const RunScreen *screen);
void run_screen_take_nodes(RunScreen *screen, GPtrArray *nodes);
void run_screen_take_event(RunScreen *screen, const char *path, const RunEvent *event);

/* Handles a key. False: it is none of this screen. */
bool run_screen_key(RunScreen *screen, int key);
/* Searches the next node; a message says if there is none. */
void run_screen_search(RunScreen *screen, const char *text);
/* connected: btd can be asked. */
void run_screen_draw(RunScreen *screen, unsigned rows, bool connected);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunScreen, run_screen_free)
