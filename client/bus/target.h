/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Finds what an operand of a verb names. TREE|RUN: "boot.3" is a run; "boot@eth0" is the newest run of an instance;
 * "boot" is the newest run of the tree or, if it has none, the tree itself. NODE: a name ("LoadConfig"), the end of a
 * path ("Boot/LoadConfig"), or the number of a node ("#12").
 */

#include "client/bus/node-info.h"
#include "client/bus/run-info.h"
#include "client/bus/tree-info.h"

/* One of the two is set. */
typedef struct Target {
        RunInfo *run;
        TreeInfo *tree;
} Target;

int target_find(Client *client, const char *operand, Target *ret_target);
void target_clear(Target *target);

/* Finds a run that has not finished; else says why there is none. */
int target_find_running(Client *client, const char *operand, RunInfo **ret_run);

/* A run's id has a dot after the name of its tree, which cannot have one. */
bool target_is_run_id(const char *operand);
/* "boot@eth0": the tree and the name of the instance. Without '@' the whole operand is the tree, and the instance is
 * NULL. */
void target_split(const char *operand, char **ret_tree, char **ret_instance);
/* The operand for the escaped one, which is a part of a unit's name. The tree's name has no '/', so a '-' in it stays;
 * in the instance, it is a '/'. To be freed; NULL: it is not escaped correctly. */
char *target_unescape(const char *escaped);

/* Whether the operand names this run: by its id, by its tree, or by its tree and instance. */
bool target_names(const char *operand, const RunInfo *run);
/* The last one in the list that the operand names; borrowed. NULL: none. */
RunInfo *target_choose_run(const GPtrArray *runs, const char *operand);

/* Say that there is no such run or tree, with btd's suggestion. Return an exit status. */
int target_report_no_run(Client *client, const char *id);
int target_report_no_tree(Client *client, const char *name);

/* Finds a node of a run. */
int target_find_node(Client *client, const RunInfo *run, const char *operand, uint32_t *ret_index);
/* The same among nodes that are known. False, with a text for people: none is named so, or several are. */
bool target_choose_node(const GPtrArray *nodes, const char *operand, uint32_t *ret_index, char **ret_error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Target, target_clear)
