/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the contents of files during one scan of the search path. Each file is read once, so that all trees that use it
 * get the same text.
 */

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

typedef struct Snapshot Snapshot;

/* secure: refuses files that others than root and btd's own user can write. */
Snapshot *snapshot_new(bool secure);
void snapshot_free(Snapshot *snapshot);

/* A NUL-terminated copy of the file; the caller frees it. ret_length does not count the NUL. Returns a negative errno
 * with an error message. */
int snapshot_read(Snapshot *snapshot, const char *path, char **ret_text, size_t *ret_length, char **ret_error);
/* SHA-256 in hexadecimal; NULL: the file was not read. */
const char *snapshot_hash(const Snapshot *snapshot, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Snapshot, snapshot_free)
