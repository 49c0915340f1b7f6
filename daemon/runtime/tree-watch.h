/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Knows which tree files have changed on the disk since they were read. The thread that reads them adds a watch before
 * it reads each one, so that no change is missed. The kernel collects the changes until somebody asks: nothing is woken
 * up, and no disk is read for an answer.
 */

#include <stdbool.h>

typedef struct TreeWatch TreeWatch;

/* NULL: there is no inotify, and no change is noticed. All functions accept NULL. */
TreeWatch *tree_watch_new(void);
void tree_watch_free(TreeWatch *watch);

/* These may wait for a disk. They are called on any thread, before the file is read or the directory is listed. A file
 * is watched also at the end of its symbolic link; of a directory, all tree files are watched, and that it appears. */
void tree_watch_add_file(TreeWatch *watch, const char *path);
void tree_watch_add_directory(TreeWatch *watch, const char *path);
/* A directory of drop-ins, of which each change is one of the directory. It can be missing if the directory around it
 * is watched. */
void tree_watch_add_dropins(TreeWatch *watch, const char *path);

/* On the main loop. All files are about to be read again. */
void tree_watch_begin(TreeWatch *watch);
/* Has this file changed? path NULL: has any file, also one that is new? */
bool tree_watch_has_changed(TreeWatch *watch, const char *path);
