/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Who could have written it: a system daemon does as root what its tree files say, so it takes only those that
 * nobody but root (or the user that it runs as) can write, and put in their place.
 */

#include <stdbool.h>
#include <sys/stat.h>

/* Why a file or directory is refused, and what to do: "refused: it can be written by others than root (mode 0664); fix
 * with: chmod go-w PATH". To be freed; NULL: it is trusted. */
char *trust_refusal(const char *path, const struct stat *st);

/* The same for what has been opened at the path, and in addition for everything on the way there: each directory and
 * each symbolic link, and the directories on the way to where that leads. */
char *trust_refusal_on_way(const char *path, const struct stat *st);
