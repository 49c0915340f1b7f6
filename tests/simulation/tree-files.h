/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The files of trees, which are missing or broken for a while, as in an upgrade: see TROUBLE_FILES.
 */

#include <stdbool.h>

/* directory: borrowed. The trees are in its directory "trees". */
void tree_files_open(const char *directory, unsigned n_trees);

/* A daemon begins; it is ready. */
void tree_files_note_life(void);
void tree_files_note_ready(void);
/* Was a daemon ready that had the tree? Only then it is known that the tree is to be started, if its file is missing
 * when the next daemon begins. */
bool tree_files_are_wanted(unsigned tree);
