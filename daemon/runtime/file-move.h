/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Moves a small file, also to another file system. A negative errno with a text for people: "cannot be moved to TO:
 * Permission denied"; then it is where it was. */
int file_move(const char *from, const char *to, char **ret_error);
