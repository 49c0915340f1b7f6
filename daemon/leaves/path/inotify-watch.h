/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Calls back when a file may have changed. One inotify serves the whole daemon, and users of the same directory share a
 * watch. The callback must check what has changed. PathExists and the output files of Spawn use it.
 *
 * inotify does not report mounts, so each change of the mount table counts as a possible change of every file, and so
 * does an overflow of inotify's queue.
 */

#include <glib.h>

typedef struct InotifyWatch InotifyWatch;

/* Called from the main loop, once for all events until then. It may create and free any watches. */
typedef void (*InotifyCallback)(void *userdata);

/* Of an entry of a directory (NULL: of any), whether there is one or not, and of the directory itself. The path of the
 * directory is taken as it is now; if it is a symbolic link, that is an error. A negative errno: what
 * inotify_add_watch(2) says. */
int inotify_watch_new_entry(const char *directory, const char *name, InotifyCallback callback, void *userdata,
                            InotifyWatch **ret_watch);
/* Of what is at the path, which may be a symbolic link: that it is written to, moved or removed. */
int inotify_watch_new_object(const char *path, InotifyCallback callback, void *userdata, InotifyWatch **ret_watch);
void inotify_watch_free(InotifyWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(InotifyWatch, inotify_watch_free)
