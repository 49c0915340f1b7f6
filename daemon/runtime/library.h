/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the trees that can be run, by name. They are loaded from the files of the search path, like units. An entry of
 * an earlier directory hides those of later ones; a link to /dev/null masks. If a file does not load, the library
 * keeps its previous tree and the errors, and also the previous versions of trees that use the same changed files. A
 * file without a root can only be included by others.
 */

#include "basic/limit.h"
#include "basic/workers.h"
#include "definition/definition.h"

typedef struct Library Library;

/* One name of the search path. */
typedef struct LibraryEntry {
        char *name;               /* "boot" for boot.json */
        char *path;               /* of the file that was read last */
        Definition *definition;   /* NULL: never loaded */
        Diagnostics *diagnostics; /* of the last scan; empty: no problems */
        bool masked;              /* the name is known, but neither listed nor reported */
} LibraryEntry;

/* Called from library_take(). */
typedef struct LibraryCallbacks {
        void (*added)(const LibraryEntry *entry, void *userdata);
        void (*changed)(const LibraryEntry *entry, void *userdata);
        void (*removed)(const LibraryEntry *entry, void *userdata); /* before it is freed */
} LibraryCallbacks;

/* directories: NULL-terminated; the first one wins. secure: refuse files that others than root and btd's own user can
 * write. tables: node types, see definition.h. limits: copied; trees beyond the limit of trees are not loaded. */
Library *library_new(const char *const *directories, bool secure, const NodeType *const *const *tables,
                     const Limits *limits, const LibraryCallbacks *callbacks, void *userdata);
void library_free(Library *library);

/* A scan of the search path. Created on the main loop, run on any thread, taken on the main loop, which replaces all
 * changed trees at once. Only one scan at a time. */
typedef struct LibraryScan LibraryScan;

LibraryScan *library_scan_new(const Library *library);
/* work: the worker that runs it, or NULL. */
void library_scan_run(LibraryScan *scan, Work *work);
void library_take(Library *library, LibraryScan *scan);
/* The errors of all files and directories, as strings. A directory that does not exist is not an error. */
const GPtrArray *library_scan_messages(const LibraryScan *scan);
void library_scan_free(LibraryScan *scan);
/* Frees a part of the scan, about 50 trees: it owns all replaced and removed trees. True: everything is freed. */
bool library_scan_free_some(LibraryScan *scan);

/* A tree that is given as text, not as a file. It can use all trees of the library. Created, run and freed like a scan.
 * name: the name in messages. */
typedef struct SearchPath SearchPath;

typedef struct LibraryText {
        SearchPath *search;
        char *text;
        Diagnostics *diagnostics;
        Definition *definition; /* NULL: the text has errors */
} LibraryText;

LibraryText *library_text_new(const Library *library, const char *name, const char *text);
void library_text_run(LibraryText *text, Work *work);
void library_text_free(LibraryText *text);

/* Have the files of the tree changed on the disk since the last scan began? entry NULL: has any file changed, or is any
 * new? */
bool library_needs_reload(const Library *library, const LibraryEntry *entry);
/* NULL: unknown name. */
const LibraryEntry *library_get(const Library *library, const char *name);
/* The listed name that was probably meant, or NULL. */
const char *library_nearest(const Library *library, const char *name);
/* Sorted by name. The caller frees the array only. */
GPtrArray *library_list(const Library *library);
/* How many trees library_list() has. */
unsigned library_count(const Library *library);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Library, library_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LibraryScan, library_scan_free)
