/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Files as they are during one look at the search path: each is read once, so that all trees that use it agree.
 */

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

typedef struct Snapshot Snapshot;

/* secure: refuses what others than root and the daemon's own user can write. */
Snapshot *snapshot_new(bool secure);
void snapshot_free(Snapshot *snapshot);

/* A copy of the file, ended by a NUL that does not count; to be freed. Negative: a text for people. */
int snapshot_read(Snapshot *snapshot, const char *path, char **ret_text, size_t *ret_length, char **ret_error);
/* SHA-256, in hex; NULL: it has not been read, or cannot be. */
const char *snapshot_hash(const Snapshot *snapshot, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Snapshot, snapshot_free)
