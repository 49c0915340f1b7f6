/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The files of trees, which are missing or broken for a while, as in an upgrade: see TROUBLE_FILES.
 */

/* directory: borrowed. The trees are in its directory "trees". */
void tree_files_open(const char *directory, unsigned n_trees);
