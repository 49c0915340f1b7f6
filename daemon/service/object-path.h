/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Names the paths of the objects, and their interfaces.
 */

#define SERVICE_PATH "/org/btd1"
#define TREE_PREFIX "/org/btd1/tree"
#define RUN_PREFIX "/org/btd1/run"

#define MANAGER_INTERFACE "org.btd1.Manager"
#define TREE_INTERFACE "org.btd1.Tree"
#define RUN_INTERFACE "org.btd1.Run"

/* The caller frees the result. */
char *object_path_of_tree(const char *name);
char *object_path_of_run(const char *id);
