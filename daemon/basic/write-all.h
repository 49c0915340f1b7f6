/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Writes to files, reads from them and copies them, also if write(2) and pread(2) take only a part. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes n bytes at the position of the file. A negative errno: a part of them may be written. */
int write_all(int fd, const void *bytes, size_t n);
/* Reads n bytes from the offset, or less if the file ends before. Returns how many, or a negative errno. */
ssize_t read_all(int fd, uint64_t offset, void *ret_bytes, size_t n);
/* Copies size bytes from the offset of a file; UINT64_MAX: all until its end. -EIO: it is shorter. */
int copy_bytes(int from, uint64_t offset, uint64_t size, int to);
/* Copies a file. -EFBIG: it has more than max bytes. A negative errno: there is no copy. */
int copy_file(const char *from, const char *to, uint64_t max);
