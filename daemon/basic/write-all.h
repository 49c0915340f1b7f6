/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes to a file descriptor, also if write(2) takes only a part. */

#include <stddef.h>

/* Writes n bytes at the position of the file. A negative errno: a part of them may be written. */
int write_all(int fd, const void *bytes, size_t n);
