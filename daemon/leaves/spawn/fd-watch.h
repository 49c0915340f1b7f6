/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calls back when a file descriptor is readable. All of them are in one epoll with one GSource, so that the pidfds and
 * pipes of a thousand processes do not slow down the main loop.
 */

#include <glib.h>

typedef struct FdWatches FdWatches;
typedef struct FdWatch FdWatch;

/* Calls back on this main loop. */
FdWatches *fd_watches_new(GMainContext *context);
/* All watches have been freed. */
void fd_watches_free(FdWatches *watches);

/* Called from the main loop as long as there is data to read, or the other end is closed. It may free any watch. */
typedef void (*FdReady)(void *userdata);

/* fd is borrowed, and must stay open until the watch is freed. */
int fd_watch_new(FdWatches *watches, int fd, FdReady ready, void *userdata, FdWatch **ret_watch);
void fd_watch_free(FdWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FdWatches, fd_watches_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FdWatch, fd_watch_free)
