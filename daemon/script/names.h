/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The names of the variables that a chunk reads and assigns, found in its text: all names except local ones, those of
 * the library, and the extra values. scripts.c uses it.
 */

#include <stdbool.h>
#include <stddef.h>

#include "script/scripts.h"

typedef struct Names {
        char **reads, **writes; /* sorted, each once */
} Names;

/* Lua must have accepted the code before. -EINVAL: it uses names in a way that is not allowed, or is not an expression.
 */
int names_find(ScriptKind kind, const char *code, const char *const *extra, const char *const *members,
               Names *ret_names, char **ret_error, size_t *ret_offset);
void names_clear(Names *names);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Names, names_clear)
