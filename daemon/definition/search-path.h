/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds tree files in a list of directories, in which the first has precedence, as for units: see btd(8). The runtime
 * and btctl use it.
 */

#include <glib.h>
#include <stdbool.h>

#include "definition/sources.h"

/* NULL-terminated; free with g_strfreev(). */
char **search_path_new(bool user);

/* True if the status is that of /dev/null; a link to it masks a file. */
bool search_path_is_mask(const struct stat *st);
/* The path of the file in the first directory that has it. To be freed; NULL: not found, or masked there by a link to
 * /dev/null. */
char *search_path_find(const char *const *directories, const char *file);
/* The tree in any of the directories that was probably meant. To be freed; NULL: none is similar. */
char *search_path_nearest(const char *const *directories, const char *tree);

/* Sources that search in these directories, and read files with source_read(). Borrows the directories. */
DefinitionSources search_path_sources(const char *const *directories);
