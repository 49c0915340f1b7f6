/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Stores a file of a load: its text, and its names. Private to loading. */

#include <glib.h>

#include "definition/text.h"

typedef struct TreeFile {
        char *path;       /* as it is shown in messages; NULL: a text without a file */
        char *id;         /* the canonical path */
        char *name;       /* of its tree: "boot" for boot.json */
        GPtrArray *found; /* the names by which it was found on the search path; NULL: none */
        unsigned number;  /* in the diagnostics */
        char *contents;   /* NULL: it could not be read, see error */
        size_t length;
        GHashTable *meant; /* item of a misspelt key -> the name that was probably meant; NULL: none */
        Text text;         /* no items: it is not valid JSON, which was reported */
        char *error;       /* why it could not be read */
        bool wrong;        /* it has an error */
} TreeFile;

/* Takes the contents, which must have a NUL byte at length; path may be NULL. */
TreeFile *tree_file_new(const char *path, char *contents, size_t length);
/* A file that cannot be read; takes the error. */
TreeFile *tree_file_new_unreadable(const char *path, char *error);
void tree_file_free(TreeFile *file);

/* Adds a name by which the file was found on the search path. */
void tree_file_note_name(TreeFile *file, const char *name);

/* The canonical path, which is the same for all spellings. To be freed. */
char *tree_file_id(const char *path);
