/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds and reads tree files: which names trees can have, in which directories their files are searched (the first has
 * precedence, as for units: see btd(8)), and how a tree file finds the other files that it uses. The loader, run
 * records, the runtime and btctl use it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "basic/limit.h"

#define TREE_NAME_MAX 100u
#define TREE_SUFFIX ".json"
#define LUA_SUFFIX ".lua"
/* boot.json.d has the drop-ins of boot.json. */
#define DROPINS_SUFFIX TREE_SUFFIX ".d"
#define DROPINS_MAX 50u                      /* of one file */
#define DROPIN_LENGTH_MAX (1u * 1024 * 1024) /* bytes */

/* Letters, digits, '_' and '-'; at most TREE_NAME_MAX. */
bool tree_name_valid(const char *name);

/* All callbacks may be NULL. */
typedef struct DefinitionSources {
        /* The path of the file on the search path ("camera.json"); to be freed. NULL: not found. */
        char *(*find)(const char *file, void *userdata);
        /* True if a file exists at the path, which is relative to an including file. Callback NULL: ask the file
         * system. */
        bool (*exists)(const char *path, void *userdata);
        /* The name of a tree on the search path that was probably meant; to be freed; or NULL. */
        char *(*nearest)(const char *tree, void *userdata);
        /* Adds the paths of the drop-ins of the tree file at the path, in the order in which they change it. A negative
         * errno with an error message: it cannot be known which. Callback NULL: there are none. */
        int (*dropins)(const char *path, GPtrArray *paths, char **ret_error, void *userdata);
        /* Reads the whole file, with a NUL byte that does not count in the length. Callback NULL: as source_read(). */
        int (*read)(const char *path, char **ret_text, size_t *ret_length, char **ret_error, void *userdata);
        /* The files are those of a run that an older btd may have begun: checks that it did not make, and that only
         * find mistakes, are omitted. */
        bool lenient;
        /* The path of a drop-in that somebody is writing: what it changes must be there. NULL: there is none. */
        const char *draft;
        /* Called for each value that the draft changes. from: NULL if it was not there; to: NULL if it is removed. */
        void (*changed)(const char *key, json_object *from, json_object *to, void *userdata);
        /* For the trees and their runs. NULL: the defaults. */
        const Limits *limits;
        void *userdata;
} DefinitionSources;

/* Reads a regular file of at most TEXT_LENGTH_MAX bytes; to be freed. Errors: those of open() and read(), -EISDIR,
 * -EINVAL, -EFBIG, with an error message ("cannot be opened: No such file or directory"). */
int source_read(const char *path, char **ret_text, size_t *ret_length, char **ret_error);

/* The reason why an open file must not be read; to be freed; NULL: it may be read. */
typedef char *(*SourceRefusal)(const char *path, const struct stat *st);
/* The same with a check after opening, -EPERM; refusal may be NULL. */
int source_read_checked(const char *path, SourceRefusal refusal, char **ret_text, size_t *ret_length, char **ret_error);

/* The canonical path, which is the same for all spellings. To be freed. */
char *source_id(const char *path);

/* NULL-terminated; free with g_strfreev(). */
char **search_path_new(bool user);

/* True if the status is that of /dev/null; a link to it masks a file. */
bool search_path_is_mask(const struct stat *st);
/* The path of the file in the first directory that has it. To be freed; NULL: not found, or masked there by a link to
 * /dev/null. */
char *search_path_find(const char *const *directories, const char *file);
/* The directory, below that of the search path, with the drop-ins of the tree file: "/etc/btd/trees/boot.json.d". To be
 * freed. */
char *search_path_dropin_directory(const char *directory, const char *path);
/* Adds the paths of the files with the suffix, sorted by file name, as systemd.unit(5) has drop-ins: of two with one
 * name, the one in the earlier directory counts; an empty file or a link to /dev/null masks. refusal: of a directory;
 * may be NULL. */
int search_path_list(const char *const *directories, const char *suffix, SourceRefusal refusal, GPtrArray *paths,
                     char **ret_error);
/* The drop-ins of a tree file; none if it is in no directory of the search path. */
int search_path_dropins(const char *const *directories, const char *path, SourceRefusal refusal, GPtrArray *paths,
                        char **ret_error);
/* The tree in any of the directories that was probably meant. To be freed; NULL: none is similar. */
char *search_path_nearest(const char *const *directories, const char *tree);

/* Sources that search in these directories, and read files with source_read(). Borrows the directories. */
DefinitionSources search_path_sources(const char *const *directories);
