/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A tree as btd reports it.
 */

#include <json-c/json_object.h>

#include "client/bus/client.h"

typedef struct TreeInfo {
        char *name, *path;
        char *description; /* may be empty */
        bool autostart;
        char *state;        /* "ok", "broken" or "failed"; "no file" if only its runs are known */
        char *source;       /* the file; this and diagnostics are set by tree_info_complete() */
        char **diagnostics; /* errors and warnings */
} TreeInfo;

void tree_info_free(TreeInfo *tree);

/* All trees, by name. */
int tree_info_list(Client *client, GPtrArray **ret_trees);
/* Gets the fields that the list does not have. */
int tree_info_complete(Client *client, TreeInfo *tree);

json_object *tree_info_to_json(const TreeInfo *tree);
json_object *tree_info_list_to_json(const GPtrArray *trees);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeInfo, tree_info_free)
