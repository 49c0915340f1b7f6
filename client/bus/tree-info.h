/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes a tree as btd reports it.
 */

#include <json-c/json_object.h>

#include "client/bus/client.h"

/* client/verbs/list.c makes some, too: of trees that have runs, but no file. */
typedef struct TreeInfo {
        char *name;
        char *path;        /* of the object; empty: it has none, because it has no file */
        char *description; /* may be empty */
        bool autostart;
        char *file_state;              /* as is-enabled says it; empty: there is no file */
        char *state;                   /* "ok", "broken" or "failed"; "no file" if it only has runs or waits for one */
        char *waiting;                 /* why an autostart or a restart waits; empty: none does, or its run has it */
        char *source;                  /* the file; this and the rest are set by tree_info_complete() */
        char **diagnostics;            /* errors and warnings */
        json_object *inputs, *outputs; /* arrays, see org.btd1(5) */
        bool need_reload;              /* see tree_info_needs_reload(), which the owner calls */
} TreeInfo;

void tree_info_free(TreeInfo *tree);

/* All trees, by name. */
int tree_info_list(Client *client, GPtrArray **ret_trees);
/* The tree of this name in the list; borrowed. NULL: it is not there. */
TreeInfo *tree_info_find(const GPtrArray *trees, const char *name);
/* Gets the fields that the list does not have. */
int tree_info_complete(Client *client, TreeInfo *tree);

/* A word: file_state, or whether the autostart of a tree without a file waits. */
const char *tree_info_autostart(const TreeInfo *tree);
/* The text that the tree was loaded from; the caller frees it. */
int tree_info_text(Client *client, const char *path, char **ret_text);

/* Whether a file of the tree has changed on the disk since btd read it. tree NULL: whether any file has, or is new.
 * False also if there is no such tree, or btd does not answer. Nothing is printed. */
bool tree_info_needs_reload(Client *client, const char *tree);
/* Prints that the tree has changed on the disk, if it has; not with --quiet or --json. Of an unknown tree and of NULL:
 * that any file has, because that of the tree may be new. */
void tree_info_warn(Client *client, const char *tree);

json_object *tree_info_to_json(const TreeInfo *tree);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeInfo, tree_info_free)
