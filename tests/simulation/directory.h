/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Where the daemons of a simulation keep their files: in memory.
 */

/* To be freed. */
char *directory_new(void);
/* Whatever is in it goes. */
void directory_empty(const char *directory);
void directory_remove(const char *directory);
