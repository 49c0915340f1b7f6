/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the values of kept variables, which the next run of the same tree and instance gets: all of them in memory, and
 * those of each tree and instance in one file. A change is written at once, but the changes of a second together; so
 * the disk is at most that far behind.
 */

#include <json-c/json_object.h>

#include "basic/disk-queue.h"

typedef struct Kept Kept;

/* All trees together, in bytes. Runs of users with limits can fill only half of it. */
#define KEPT_BYTES_MAX (UINT64_C(16) << 20)

/* directory: has the files, or NULL: nothing is stored. disk and timers are borrowed. */
Kept *kept_new(const char *directory, DiskQueue *disk, Timers *timers);
void kept_free(Kept *kept);
/* Reads all files; call it once. Damaged ones are reported, and left out. */
void kept_read(Kept *kept);

/* The values by name; borrowed until the next change. NULL: there are none. instance: "" for none. */
json_object *kept_find(const Kept *kept, const char *tree, const char *instance);
/* Does any instance of the tree have values? */
bool kept_has_tree(const Kept *kept, const char *tree);
/* References the value. False: there is no room for it, and the earlier value is kept. bound: a user with limits has
 * set it. */
bool kept_set(Kept *kept, const char *tree, const char *instance, const char *name, json_object *value, bool bound);
/* False: there is no such value. */
bool kept_forget(Kept *kept, const char *tree, const char *instance, const char *name);
/* Writes what has changed now. */
void kept_hurry(Kept *kept);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Kept, kept_free)
