/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Loads tree files that are only in memory, written with ' for ", and gives the messages of the loader. Their types are
 * the engine's and one leaf, "Do", which takes anything and can name variables in all ways.
 */

#include "definition/definition.h"

typedef struct Do {
        const char *text;           /* "{references}" */
        const char *reads, *writes; /* names of variables */
        const char *const *list;    /* the same, that it sets */
        const char *const *names;   /* outputs, as a list */
        const NamedScript *outputs; /* and as expressions */
        const Script *test, *code;
        json_object *any;
} Do;

#define TOO_MANY_NODES                                                                                                 \
        "too many nodes: a tree has at most 1000000, counting what each SubTree uses, and the child of a ForEach as "  \
        "often as its 'concurrency' says"

extern const NodeType *const *const *const tree_file_tables;

typedef struct TreeFiles TreeFiles;

/* Pairs of a path and a text; NULL-terminated. The files of "path/" are the search path, and those
 * of "x.json.d/" the drop-ins of x.json. */
TreeFiles *tree_files_new(const char *const *files);
void tree_files_free(TreeFiles *files);
void tree_files_put(TreeFiles *files, const char *path, const char *text);
/* The drop-in that somebody is writing. */
void tree_files_draft(TreeFiles *files, const char *path);
/* What it changes: "KEY: FROM -> TO", one a line; borrowed. */
const char *tree_files_changes(const TreeFiles *files);

/* Loads the file of that path; all messages, one a line. ret_definition: NULL when there were errors. */
char *tree_files_load(TreeFiles *files, const char *path, Definition **ret_definition);

/* The same for a single file. */
char *tree_file_messages(const char *text);
/* It must load, without a word. */
Definition *tree_file_good(const char *text);

/* The text of trees t0, t1, ... each of which uses the next one so many times; the root is a leaf, or uses t0. */
GString *tree_file_chain(unsigned n, unsigned uses, bool from_root);

void assert_tree_messages(const char *text, const char *expected);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeFiles, tree_files_free)
