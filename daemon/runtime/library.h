/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The trees that can be run, by name: the files of the search path, loaded like units. An entry of an earlier
 * directory hides those of later ones; a link to /dev/null masks. A file that does not load leaves the tree that it
 * would have replaced as it was, with the error beside it, and so it does with those that use the same changed files.
 * A file without a root is only there for others to include.
 */

#include "definition/definition.h"

typedef struct Library Library;

/* One name of the search path. */
typedef struct LibraryEntry {
        char *name;               /* "boot" for boot.json */
        char *path;               /* of the file that was looked at last */
        Definition *definition;   /* NULL while none has loaded */
        Diagnostics *diagnostics; /* of the last look at the file, empty when all was well */
        bool masked;              /* then the name is known, but neither listed nor told of */
} LibraryEntry;

/* From within library_reload(). */
typedef struct LibraryCallbacks {
        void (*added)(const LibraryEntry *entry, void *userdata);
        void (*changed)(const LibraryEntry *entry, void *userdata);
        void (*removed)(const LibraryEntry *entry, void *userdata); /* about to go */
} LibraryCallbacks;

/* directories: NULL-terminated, the first wins. secure: refuse what others than root and the daemon's own user can
 * write. tables: of node types, see definition.h. */
Library *library_new(const char *const *directories, bool secure, const NodeType *const *const *tables,
                     const LibraryCallbacks *callbacks, void *userdata);
void library_free(Library *library);
/* More than so many are not loaded. */
void library_set_max(Library *library, unsigned max);

/* Reads the directories again. The errors of all files and directories are added to messages, as texts to be freed; a
 * directory that does not exist is none. */
void library_reload(Library *library, GPtrArray *messages);

/* A tree that is in no file of its own, but can use all that there are. name: as messages call it. -EINVAL: there were
 * errors. */
int library_load_text(Library *library, const char *text, Diagnostics *diagnostics, Definition **ret_definition);

/* NULL: not known. */
const LibraryEntry *library_get(const Library *library, const char *name);
/* The listed name that was most likely meant, or NULL. */
const char *library_nearest(const Library *library, const char *name);
/* In order of name; free the array only. */
GPtrArray *library_list(const Library *library);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Library, library_free)
