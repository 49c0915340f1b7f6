/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Waits for signals of btd. No signal after watch_new() is missed, even during calls; watch_wait() dispatches them.
 */

#include <systemd/sd-event.h>

#include "client/bus/client.h"

typedef struct Watch Watch;

/* A NULL callback is not watched. */
typedef struct WatchCallbacks {
        void (*run_new)(const char *id, const char *path, void *userdata);
        void (*run_ready)(const char *id, void *userdata);
        void (*run_finished)(const char *id, const char *status, const char *cause, void *userdata);
        /* Only after a call of Subscribe, to each btd. */
        void (*nodes_changed)(const char *run_path, GPtrArray *nodes, void *userdata);
        /* Only after a call of SubscribeEvents, to each btd. */
        void (*events)(sd_bus_message *signal, void *userdata);
        void (*reloaded)(char **errors, void *userdata);
        void (*restart_dropped)(const char *tree, void *userdata);
        void (*away)(void *userdata); /* see watch_wait_for_restart() */
        void (*back)(const char *how, void *userdata);
} WatchCallbacks;

int watch_new(Client *client, const WatchCallbacks *callbacks, void *userdata, Watch **ret_watch);
void watch_free(Watch *watch);

/* Dispatches signals until watch_end(), and returns its exit status. EXIT_SIGNAL and more: Ctrl-C or SIGTERM, without a
 * message. If btd exits, prints so. */
int watch_wait(Watch *watch);
/* Calls back once, a little later, even if asked several times meanwhile. */
void watch_soon(Watch *watch, void (*callback)(void *userdata));
/* Calls back when the descriptor is readable; only for one of them. */
int watch_fd(Watch *watch, int fd, void (*callback)(void *userdata));
void watch_end(Watch *watch, int status);
/* The loop of watch_wait(), for further sources; borrowed. */
sd_event *watch_loop(const Watch *watch);
/* Whether to wait when btd exits or the bus is lost, because the next btd recovers the runs; forever, or with a limit.
 * Signals in between are lost. */
void watch_wait_for_restart(Watch *watch, bool waits_for_restart, bool forever);
/* Waits for btd, which is not running, as if it had exited now. */
void watch_daemon_away(Watch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Watch, watch_free)
