/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Watches files, and follows the states of paths, over one inotify. PathExists and the output files of Spawn use it.
 * Paths are looked up on threads. A file watch is set on the main loop: only for files in memory, which never hang.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct PathWatches PathWatches;

/* The directory that is mounted at the path, as /proc/self/mountinfo names it in its file system; the last one, if
 * several are mounted there. To be freed. NULL: it is no mount point. */
char *mounted_at(const char *path);

/* Calls back on this main loop. */
PathWatches *path_watches_new(GMainContext *context);
/* All watches have been freed. Waits only a short time for file systems that hang. */
void path_watches_free(PathWatches *watches);

/*
 * Calls back when a file may have changed: the callback must check what has changed. Users of the same file share a
 * watch. inotify does not report mounts, so each change of the mount table counts as a possible change of every file,
 * and so does an overflow of inotify's queue.
 */
typedef struct FileWatch FileWatch;

/* Called from the main loop, once for all events until then. It may create and free any watches. */
typedef void (*FileChanged)(void *userdata);

/* Watches the file at this path: changed is called when the file is written to, moved or removed. A symbolic link is
 * not followed. Returns a negative errno of inotify_add_watch(2) if the file cannot be watched. */
int file_watch_new(PathWatches *watches, const char *path, FileChanged changed, void *userdata, FileWatch **ret_watch);
void file_watch_free(FileWatch *watch);

/*
 * Follows the state of a path, without polling, while directories, symbolic links and file systems on the path come and
 * go. All users of the same path share one watch.
 *
 * For files that the kernel generates (/proc, /sys), or that are on another machine, no changes are reported.
 */
typedef struct PathWatch PathWatch;

typedef enum PathState {
        PATH_PENDING, /* being looked up for the first time */
        PATH_UNKNOWN, /* it cannot be read, or its changes cannot be watched */
        PATH_MISSING,
        PATH_FILE,
        PATH_EMPTY_FILE,
        PATH_DIRECTORY,
        PATH_EMPTY_DIRECTORY,
        PATH_OTHER, /* a socket, a device, a pipe */
} PathState;

/* path: begins with "/". contents: also check whether it is empty; else this is not reported. changed is called when
 * the state is known, which never is if the file system hangs, and when it has changed. It may free any watch. */
PathWatch *path_watch_new(PathWatches *watches, const char *path, bool contents, void (*changed)(void *userdata),
                          void *userdata);
void path_watch_free(PathWatch *watch);

PathState path_watch_state(const PathWatch *watch);
/* UNKNOWN: why. MISSING: what is not there, if that is not the path itself: "there is no /run/x". Else NULL. */
const char *path_watch_detail(const PathWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathWatches, path_watches_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileWatch, file_watch_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathWatch, path_watch_free)
