/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A file of a load: its text, and what messages call it.
 */

#include "definition/text.h"

typedef struct TreeFile {
        char *path;      /* as messages call it; NULL: a text that is in no file */
        char *id;        /* the same for the same file */
        char *name;      /* of the tree that it is: "boot" for boot.json */
        unsigned number; /* in the diagnostics */
        char *contents;  /* NULL: it could not be read, see error */
        size_t length;
        Text text;   /* no items: it is no JSON, which has been reported */
        char *error; /* why it could not be read */
        bool wrong;  /* there is a fault in it */
} TreeFile;

/* Takes the contents, which are ended by a NUL; path may be NULL. */
TreeFile *tree_file_new(const char *path, char *contents, size_t length);
/* One that cannot be read; takes the error. */
TreeFile *tree_file_new_unreadable(const char *path, char *error);
void tree_file_free(TreeFile *file);

/* The same for all paths of the file that differ in writing only. To be freed. */
char *tree_file_id(const char *path);
