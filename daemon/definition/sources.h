/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Defines how a tree file finds and reads the other files that it uses: included ones, and those of other trees. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* All callbacks may be NULL. */
typedef struct DefinitionSources {
        /* The path of the file on the search path ("camera.json"); to be freed. NULL: not found. */
        char *(*find)(const char *file, void *userdata);
        /* True if a file exists at the path, which is relative to an including file. Callback NULL: ask the file
         * system. */
        bool (*exists)(const char *path, void *userdata);
        /* The name of a tree on the search path that was probably meant; to be freed; or NULL. */
        char *(*nearest)(const char *tree, void *userdata);
        /* Reads the whole file, with a NUL byte that does not count in the length. Callback NULL: as source_read(). */
        int (*read)(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata);
        void *userdata;
} DefinitionSources;

/* Reads a regular file of at most TEXT_LENGTH_MAX bytes; to be freed. Errors: those of open() and read(), -EISDIR,
 * -EINVAL, -EFBIG, with an error message ("cannot be opened: No such file or directory"). */
int source_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error);

/* The reason why an open file must not be read; to be freed; NULL: it may be read. */
typedef char *(*SourceRefusal)(const char *path, const struct stat *st);
/* The same with a check after opening, -EPERM; refusal may be NULL. */
int source_read_checked(const char *path, SourceRefusal refusal, char **ret_text, size_t *ret_length, char **ret_error);
