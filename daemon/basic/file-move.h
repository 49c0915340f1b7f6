/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Moves a small file, also to another file system. Returns a negative errno and a message like "cannot be moved to TO:
 * Permission denied"; the file is then still in its old place. */
int file_move(const char *from, const char *to, char **ret_error);
