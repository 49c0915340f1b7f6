/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Memory that is freed all at once: blocks, strings, and the JSON values that they point to.
 */

#include <glib.h>
#include <json-c/json_object.h>
#include <stddef.h>

typedef struct Arena Arena;

/* size: how much the first piece holds; later ones are larger. */
Arena *arena_new(size_t size);
void arena_free(Arena *arena);

/* Zeroed, aligned for anything. */
void *arena_alloc(Arena *arena, size_t size);
/* A copy, ended by a NUL. */
const char *arena_string(Arena *arena, const char *text, size_t length);
/* Takes the value, which is put with the arena; returns it. */
json_object *arena_own(Arena *arena, json_object *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Arena, arena_free)
