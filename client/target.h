/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What a TREE|RUN operand means: "boot.3" is a run, "boot@eth0" the newest run of an instance, "boot" the newest run
 * of the tree, or the tree itself where it has none.
 */

#include "run-info.h"
#include "tree-info.h"

/* One of the two. */
typedef struct Target {
        RunInfo *run;
        TreeInfo *tree;
} Target;

int target_find(Client *client, const char *operand, Target *ret_target);
void target_clear(Target *target);

/* The run that the operand means, and which is still running; otherwise says so. */
int target_find_running(Client *client, const char *operand, RunInfo **ret_run);

/* A run's id has the dot that no tree's name can have. */
bool target_is_run_id(const char *operand);
/* "boot@eth0": the tree and the instance; else the whole is the tree, and instance NULL. */
void target_split(const char *operand, char **ret_tree, char **ret_instance);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Target, target_clear)
