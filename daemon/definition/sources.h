/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where a tree file finds the other files that it uses: those that it includes, and the trees of others.
 */

#include <stddef.h>

/* All callbacks may be NULL. */
typedef struct DefinitionSources {
        /* The path of the file on the search path ("camera.json"); to be freed. NULL: there is none. */
        char *(*find)(const char *file, void *userdata);
        /* The name of a tree on the search path that was most likely meant, borrowed, or NULL. */
        const char *(*nearest)(const char *tree, void *userdata);
        /* All of the file, ended by a NUL that does not count; NULL: as source_read(). */
        int (*read)(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata);
        void *userdata;
} DefinitionSources;

/* A regular file of at most TEXT_LENGTH_MAX bytes; to be freed. Errors: those of open and read, with a text for people
 * ("cannot be opened: No such file or directory"). */
int source_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error);
