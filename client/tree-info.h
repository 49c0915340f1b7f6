/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What btd tells of a tree.
 */

#include <json-c/json_object.h>

#include "client.h"

typedef struct TreeInfo {
        char *name, *path;
        char *description; /* may be empty */
        bool autostart;
        char *state;        /* "ok", "broken" or "failed"; "no file" where only runs tell of it */
        char *source;       /* the file; these two only after tree_info_complete() */
        char **diagnostics; /* errors and warnings */
} TreeInfo;

void tree_info_free(TreeInfo *tree);

/* All trees, by name. */
int tree_info_list(Client *client, GPtrArray **ret_trees);
/* Asks for what the list does not tell. */
int tree_info_complete(Client *client, TreeInfo *tree);

json_object *tree_info_to_json(const TreeInfo *tree);
json_object *tree_info_list_to_json(const GPtrArray *trees);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeInfo, tree_info_free)
