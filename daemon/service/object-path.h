/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where the objects are, and what their interfaces are called.
 */

#define SERVICE_PATH "/org/btd1"
#define TREE_PREFIX "/org/btd1/tree"
#define RUN_PREFIX "/org/btd1/run"

#define MANAGER_INTERFACE "org.btd1.Manager"
#define TREE_INTERFACE "org.btd1.Tree"
#define RUN_INTERFACE "org.btd1.Run"

/* To be freed. */
char *object_path_of_tree(const char *name);
char *object_path_of_run(const char *id);
