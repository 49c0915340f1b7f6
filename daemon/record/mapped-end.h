/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The end of a run record, mapped to append entries without a system call: a run with many inputs would spend most of
 * its time in write(). Like written bytes, appended ones survive if the daemon is killed. Only for files in memory
 * (tmpfs), as in /run.
 *
 * While it is mapped, the file is longer than its entries. The first byte of an append is copied last, so until then
 * readers find a NUL byte after the entries, see run-record.h.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct MappedEnd {
        int fd;         /* borrowed */
        uint64_t size;  /* of the entries in the file */
        uint64_t begin; /* offset in the file of what is mapped */
        char *bytes;
        size_t length;
} MappedEnd;

/* Maps room for so many bytes after the entries; fd must be open for reading and writing, and stay open. All of it is
 * allocated, so an append cannot fail because memory or disk is full. NULL: this is not possible here. */
MappedEnd *mapped_end_new(int fd, uint64_t size, size_t room);
/* Removes from the file what follows its entries. NULL is accepted. */
void mapped_end_free(MappedEnd *end);

/* False: no room is left for so many bytes, and nothing was done. n must not be 0. */
bool mapped_end_append(MappedEnd *end, const char *bytes, size_t n);
