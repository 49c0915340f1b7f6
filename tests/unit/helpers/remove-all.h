/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Removes the directories of tests. */

/* Removes the file, or the directory with all that is in it. */
void remove_all(const char *path);
