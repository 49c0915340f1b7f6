/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Follows the state of a path, without polling, while directories, symbolic links and file systems on the path come and
 * go. All users of the same path share one watch.
 *
 * For files that the kernel generates (/proc, /sys), or that are on another machine, no changes are reported.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct PathWatch PathWatch;

typedef enum PathState {
        PATH_UNKNOWN, /* it cannot be read, or its changes cannot be watched */
        PATH_MISSING,
        PATH_FILE,
        PATH_EMPTY_FILE,
        PATH_DIRECTORY,
        PATH_EMPTY_DIRECTORY,
        PATH_OTHER, /* a socket, a device, a pipe */
} PathState;

/* path: begins with "/". contents: also check whether it is empty; else this is not reported. The state is known at
 * once; changed is called when it has changed, and may free any watch. */
PathWatch *path_watch_new(const char *path, bool contents, void (*changed)(void *userdata), void *userdata);
void path_watch_free(PathWatch *watch);

PathState path_watch_state(const PathWatch *watch);
/* UNKNOWN: why. MISSING: what is not there, if that is not the path itself: "there is no /run/x". Else NULL. */
const char *path_watch_detail(const PathWatch *watch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PathWatch, path_watch_free)
