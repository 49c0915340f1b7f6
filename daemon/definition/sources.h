/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where a tree file finds the other files that it uses: those that it includes, and the trees of others.
 */

#include <stddef.h>
#include <sys/stat.h>

/* All callbacks may be NULL. */
typedef struct DefinitionSources {
        /* The path of the file on the search path ("camera.json"); to be freed. NULL: there is none. */
        char *(*find)(const char *file, void *userdata);
        /* The name of a tree on the search path that was most likely meant; to be freed; or NULL. */
        char *(*nearest)(const char *tree, void *userdata);
        /* All of the file, ended by a NUL that does not count; NULL: as source_read(). */
        int (*read)(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata);
        void *userdata;
} DefinitionSources;

/* A regular file of at most TEXT_LENGTH_MAX bytes; to be freed. Errors: those of open and read, with a text for people
 * ("cannot be opened: No such file or directory"). */
int source_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error);

/* Why a file that has been opened is not to be read; to be freed; NULL: it may be. */
typedef char *(*SourceRefusal)(const char *path, const struct stat *st);
/* refusal: may be NULL. */
int source_read_checked(const char *path, SourceRefusal refusal, char **ret_text, size_t *ret_length, char **ret_error);
