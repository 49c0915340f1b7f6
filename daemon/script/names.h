/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Which variables a chunk reads and assigns, found in its text: all names but local ones, those of the library, and
 * those that the evaluator gives.
 */

#include <stdbool.h>
#include <stddef.h>

#include "script/scripts.h"

typedef struct Names {
        char **reads, **writes; /* sorted, each once */
} Names;

/* The code is one that Lua accepts. -EINVAL: it uses names in a way that is not allowed here, or is no expression. */
int names_find(ScriptKind kind, const char *code, const char *const *extra, Names *ret_names, char **ret_error,
               size_t *ret_offset);
void names_clear(Names *names);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Names, names_clear)
