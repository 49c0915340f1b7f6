/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The list on the screen of btctl watch: all trees, each with its running or its last run.
 */

#include "client/bus/run-info.h"
#include "client/bus/tree-info.h"

typedef struct ListScreen ListScreen;

ListScreen *list_screen_new(Client *client);
void list_screen_free(ListScreen *screen);

/* Reads trees and runs from btd. from_start: and the last results from its history. Returns an exit status. */
int list_screen_read(ListScreen *screen, bool from_start);
/* A run has finished, whose next one may start before the list is read again. */
void list_screen_take_finished(ListScreen *screen, const char *id, const char *status);
/* btd has read the tree files again. */
void list_screen_forget_errors(ListScreen *screen);
/* The run under the cursor, and its tree; NULL: there is none. */
const RunInfo *list_screen_run(const ListScreen *screen);
const char *list_screen_tree(const ListScreen *screen);
/* It has not run, and cannot: its file has errors, and there is no older version that is still in use. */
bool list_screen_is_unloaded(const ListScreen *screen);

/* Handles a key. False: it is none of this screen. */
bool list_screen_key(ListScreen *screen, int key);
/* Shows only trees and runs with this text; an empty one: all. */
void list_screen_filter(ListScreen *screen, const char *text);
/* Moves the cursor to an instance of a tree; empty: the plain one. */
void list_screen_select(ListScreen *screen, const char *tree, const char *instance);
/* connected: btd can be asked. */
void list_screen_draw(ListScreen *screen, unsigned rows, bool connected);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListScreen, list_screen_free)
