/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes to files. */

#include <stddef.h>

/* Writes all n bytes at the position of the file: write(2) can be interrupted, or write only a part. A negative errno;
 * then a part may be written. */
int write_all(int fd, const void *bytes, size_t n);
