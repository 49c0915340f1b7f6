/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Checks who could have written a file. A system daemon does as root what its tree files say, so it accepts only files
 * that nobody but root (or the user that it runs as) can write or replace.
 */

#include <stdbool.h>
#include <sys/stat.h>

/* Returns why the file or directory is refused and what to do: "is refused, because it can be written by others than
 * root (mode 0664); ... run: chmod go-w PATH". The caller frees it. NULL: it is trusted. */
char *trust_refusal(const char *path, const struct stat *st);

/* The same for an open file, and also for each directory and symbolic link on the path to it, including the paths that
 * the links lead along. */
char *trust_refusal_on_way(const char *path, const struct stat *st);
