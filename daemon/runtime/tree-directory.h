/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * One directory of the search path, and the files in it that may be trees.
 */

#include <glib.h>
#include <stdbool.h>

/* The names of the trees, in order of their files. secure: refuses what others than root and the daemon's own user can
 * write. What is wrong, with the directory or with a name, is added to the messages. -ENOENT: there is no such
 * directory, which is fine; else negative when it is refused. */
int tree_directory_read(const char *directory, bool secure, GPtrArray **ret_names, GPtrArray *messages);

/* Of the file of one of the trees. To be freed. */
char *tree_directory_path(const char *directory, const char *name);
