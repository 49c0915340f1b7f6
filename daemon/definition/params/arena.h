/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Allocates memory that is freed all at once: blocks, strings, and the JSON values that they point to. Loaded trees and
 * the parameters of a node use it.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stddef.h>

typedef struct Arena Arena;

/* size: the capacity of the first piece, in bytes; later pieces are larger. */
Arena *arena_new(size_t size);
void arena_free(Arena *arena);
/* Releases only the JSON values; they must not be used any more. */
void arena_put_values(Arena *arena);

/* Zeroed, aligned for any type. */
void *arena_alloc(Arena *arena, size_t size);
/* A copy of the text, with a NUL byte at its end. */
const char *arena_string(Arena *arena, const char *text, size_t length);
/* Takes the value, releases it with the arena, and returns it. */
json_object *arena_own(Arena *arena, json_object *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Arena, arena_free)
