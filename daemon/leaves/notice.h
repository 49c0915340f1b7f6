/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Told when something may have happened to a file: by one inotify for the whole daemon, in which all who look at the
 * same directory share a watch. What has happened is for him to see who is told.
 *
 * inotify says nothing when a file system is mounted, so each change of the mount table is something that may have
 * happened to every file, as is a queue of inotify that has overflown.
 */

#include <glib.h>

typedef struct Notice Notice;

/* Called from the main loop, once for whatever has happened until then. It may make and free any notices. */
typedef void (*NoticeTold)(void *userdata);

/* Of an entry of a directory (NULL: of any), whether there is one or not, and of the directory itself. The path of the
 * directory is taken as it is now; if it is a symbolic link, that is an error. A negative errno: what
 * inotify_add_watch(2) says. */
int notice_new_entry(const char *directory, const char *name, NoticeTold told, void *userdata, Notice **ret_notice);
/* Of what is at the path, which may be a symbolic link: that it is written to, moved or removed. */
int notice_new_object(const char *path, NoticeTold told, void *userdata, Notice **ret_notice);
void notice_free(Notice *notice);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Notice, notice_free)
