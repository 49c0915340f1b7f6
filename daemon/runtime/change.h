/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the contents of files during one scan of the search path, and decides at a reload which trees are replaced. Each
 * file is read once, so that all trees that use it get the same text. Trees that use the same changed file are replaced
 * together; if one of them does not load, none is replaced.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "definition/definition.h"

typedef struct FileContents FileContents;

/* secure: refuses files that others than root and btd's own user can write. */
FileContents *file_contents_new(bool secure);
void file_contents_free(FileContents *contents);

/* A NUL-terminated copy of the file; the caller frees it. ret_length does not count the NUL. Returns a negative errno
 * with an error message. */
int file_contents_read(FileContents *contents, const char *path, char **ret_text, size_t *ret_length, char **ret_error);
/* SHA-256 in hexadecimal; NULL: the file was not read. */
const char *file_contents_hash(const FileContents *contents, const char *path);

/* The result of a reload for one tree. */
typedef struct Change {
        const char *name;
        const Definition *before, *after; /* NULL: none; after NULL: the file does not load */
        const char *held_by;              /* the tree that prevents the change; or NULL */
} Change;

/* Sets held_by of each change. changes: an array of Change. */
void changes_settle(GArray *changes, const FileContents *contents);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FileContents, file_contents_free)
