/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Allocates from pieces of memory of growing size. Blocks are taken from the start of a piece, strings from its end,
 * since they need no alignment. */

#include <stdalign.h>
#include <string.h>

#include "definition/params/arena.h"

#define PIECE_MAX (256u * 1024)

typedef struct Piece Piece;

struct Piece {
        Piece *next;
        alignas(max_align_t) char data[];
};

struct Arena {
        Piece *pieces;
        char *start, *end; /* the free part of the newest piece */
        size_t size;       /* of the next piece */
        GPtrArray *values; /* of json_object; NULL: none */
};

Arena *arena_new(size_t size) {
        Arena *arena = g_new0(Arena, 1);

        arena->size = size;
        return arena;
}

static void on_value_dropped(void *value) {
        json_object_put(value);
}

void arena_put_values(Arena *arena) {
        g_clear_pointer(&arena->values, g_ptr_array_unref);
}

void arena_free(Arena *arena) {
        if (!arena)
                return;

        arena_put_values(arena);
        while (arena->pieces) {
                Piece *next = arena->pieces->next;

                g_free(arena->pieces);
                arena->pieces = next;
        }
        g_free(arena);
}

static void arena_grow(Arena *arena, size_t size) {
        size_t capacity = MAX(size, arena->size);
        Piece *piece = g_malloc(sizeof(Piece) + capacity);

        piece->next = arena->pieces;
        arena->pieces = piece;
        arena->start = piece->data;
        arena->end = piece->data + capacity;
        arena->size = MIN(arena->size * 2, PIECE_MAX);
}

void *arena_alloc(Arena *arena, size_t size) {
        size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
        void *block;

        if ((size_t) (arena->end - arena->start) < rounded)
                arena_grow(arena, rounded);

        block = memset(arena->start, 0, size);
        arena->start += rounded;
        return block;
}

const char *arena_string(Arena *arena, const char *text, size_t length) {
        char *copy;

        if ((size_t) (arena->end - arena->start) < length + 1)
                arena_grow(arena, length + 1);

        arena->end -= length + 1;
        copy = arena->end;
        memcpy(copy, text, length);
        copy[length] = 0;
        return copy;
}

json_object *arena_own(Arena *arena, json_object *value) {
        if (!value)
                return NULL;
        if (!arena->values)
                arena->values = g_ptr_array_new_with_free_func(on_value_dropped);

        g_ptr_array_add(arena->values, value);
        return value;
}
