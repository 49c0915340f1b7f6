/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The directories in which trees are looked for, the first before the last: as for units, see btd(8).
 */

#include <glib.h>
#include <stdbool.h>

#include "definition/sources.h"

/* NULL-terminated; g_strfreev(). */
char **search_path_new(bool user);

/* Is it a link to /dev/null, or that itself? */
bool search_path_is_mask(const struct stat *st);
/* The file of that name in the first of the directories that has it. To be freed; NULL: none has, or it is masked there
 * by a link to /dev/null. */
char *search_path_find(const char *const *directories, const char *file);
/* The tree in any of the directories that was most likely meant. To be freed; NULL: there is none like that. */
char *search_path_nearest(const char *const *directories, const char *tree);

/* Sources that find files there, and read them as any program would. Borrows the directories. */
DefinitionSources search_path_sources(const char *const *directories);
