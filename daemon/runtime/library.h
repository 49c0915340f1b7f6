/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The trees that can be run, by name: the files of the search path, loaded like units. An entry of an earlier
 * directory hides those of later ones; a link to /dev/null masks. A file that does not load leaves the tree that it
 * would have replaced as it was, with the error beside it.
 */

#include "definition/definition.h"

typedef struct Library Library;

/* One name of the search path. */
typedef struct LibraryEntry {
        char *name;             /* "boot" for boot.json: letters, digits, '_' and '-' */
        char *path;             /* of the file that was looked at last */
        Definition *definition; /* NULL while none has loaded */
        Diagnostics *diagnostics; /* of the last look at the file; NULL: none */
        bool masked;
} LibraryEntry;

typedef struct LibraryCallbacks {
        void (*added)(const LibraryEntry *entry, void *userdata);
        void (*changed)(const LibraryEntry *entry, void *userdata);
        void (*removed)(const LibraryEntry *entry, void *userdata); /* about to be freed */
} LibraryCallbacks;

/* directories: NULL-terminated, the first wins. secure: refuse what others than root can write. */
Library *library_new(const char *const *directories, bool secure, const LibraryCallbacks *callbacks, void *userdata);
void library_free(Library *library);

/* Reads the directories again. The number of files with errors, or a negative errno where a directory cannot be
 * read (one that does not exist is no error). */
int library_reload(Library *library, GPtrArray *ret_messages);

const LibraryEntry *library_get(const Library *library, const char *name);
const char *library_nearest(const Library *library, const char *name);
/* In order of name; free the array only. */
GPtrArray *library_list(const Library *library);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Library, library_free)
