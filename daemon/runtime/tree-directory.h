/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Lists the tree files in one directory of the search path.
 */

#include <glib.h>
#include <stdbool.h>

/* The names of the trees, sorted by file name. secure: refuse files that others than root and btd's own user can write.
 * Adds problems of the directory and of names to messages. -ENOENT: the directory does not exist, which is not an
 * error; other negative values: it was refused. */
int tree_directory_read(const char *directory, bool secure, GPtrArray **ret_names, GPtrArray *messages);

/* The path of a tree's file. The caller frees it. */
char *tree_directory_path(const char *directory, const char *name);
