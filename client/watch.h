/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waiting for what happens in btd, by its signals. What happens from watch_new() on is not missed, also while calls
 * are made; it is told in watch_wait().
 */

#include "client.h"

typedef struct Watch Watch;

/* Those that are NULL are not watched. */
typedef struct WatchCallbacks {
        void (*run_new)(const char *id, const char *path, void *userdata);
        void (*run_finished)(const char *id, const char *status, const char *cause, void *userdata);
        void (*nodes_changed)(const char *run_path, GPtrArray *nodes, void *userdata);
        void (*reloaded)(char **errors, void *userdata);
        void (*back)(void *userdata); /* see watch_outlast() */
} WatchCallbacks;

int watch_new(Client *client, const WatchCallbacks *callbacks, void *userdata, Watch **ret_watch);
void watch_free(Watch *watch);

/* Until watch_end() is called, which gives the exit status to be returned. EXIT_SIGNAL and more: by Ctrl-C or SIGTERM,
 * and nothing has been said of it. Says so when btd goes away. */
int watch_wait(Watch *watch);
void watch_end(Watch *watch, int status);
/* From now on a btd that goes away is waited for, for a while: another one goes on with what it has begun. What happens
 * in between is not told. */
void watch_outlast(Watch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Watch, watch_free)
