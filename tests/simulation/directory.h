/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The directory for the files of the simulated daemons, in memory.
 */

/* To be freed. */
char *directory_new(void);
/* Removes its contents. */
void directory_empty(const char *directory);
void directory_remove(const char *directory);
