/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Decides at a reload which trees are replaced. Trees that use the same changed file are replaced together; if one of
 * them does not load, none is replaced.
 */

#include "definition/definition.h"
#include "runtime/file-contents.h"

/* The result of a reload for one tree. */
typedef struct Change {
        const char *name;
        const Definition *before, *after; /* NULL: none; after NULL: the file does not load */
        const char *held_by;              /* the tree that prevents the change; or NULL */
} Change;

/* Sets held_by of each change. changes: an array of Change. */
void changes_settle(GArray *changes, const FileContents *contents);
