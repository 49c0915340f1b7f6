/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What callers want, one thing at a time: each caller has one turn, then the next caller, however much one of them
 * wants. It is done from the main loop, with a budget of time, so that whoever only asks something is answered in
 * between.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Turns Turns;

typedef struct Turn {
        GList link; /* private, like the next two */
        uint64_t number;
        const char *caller;
        GQueue *queue;
} Turn;

/* take: has its turn now, and is not in the queue any more. may: is it a time for that? Asked whenever something has
 * happened; NULL: always. */
Turns *turns_new(GMainContext *context, void (*take)(Turn *turn), bool (*may)(void *userdata), void *userdata);
void turns_free(Turns *turns);

/* Nobody has his turn before. */
void turns_open(Turns *turns);

/* The turn belongs to somebody else, and stays where it is, as does the caller's name. */
void turns_add(Turns *turns, Turn *turn, const char *caller);
/* Nothing happens if it is not in the queue. */
void turn_drop(Turn *turn);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Turns, turns_free)
