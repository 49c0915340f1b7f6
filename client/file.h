/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Reading files that are not trees.
 */

#include <stddef.h>

/* All of it, ended by a NUL; to be freed. A negative errno. */
int file_read(const char *path, char **ret_text, size_t *ret_length);
