/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns a fair queue: callers take turns, however many turns one of them has queued. A long turn is done in pieces, at
 * most one in each turn of the main loop, so that runs continue in between.
 *
 * A queue can rest after pieces of long turns. Beside other busy processes, one that never sleeps waits in the kernel's
 * run queue, and its runs wait with it, whatever their priority is in the main loop.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Turns Turns;

typedef struct Turn {
        GList link; /* private, like the next four */
        uint64_t number;
        int64_t took; /* microseconds, so far */
        const char *caller;
        Turns *turns;
} Turn;

/* take: does the turn until the given time (CLOCK_MONOTONIC, microseconds). False: there is more to do; take() is
 * called again in a later turn of the main loop, before any other turn. True: the turn has left the queue. may: can a
 * turn be done now? Called in each turn of the main loop; NULL: always. rests: does the queue rest in turns that take
 * 5 ms and more, while others wait? */
Turns *turns_new(GMainContext *context, bool (*take)(Turn *turn, int64_t until), bool (*may)(void *userdata),
                 bool rests, void *userdata);
void turns_free(Turns *turns);

/* Starts the queue. Until then, turns wait. */
void turns_open(Turns *turns);

/* Queues a turn. Borrows the turn and the caller's name; both must stay valid and in place. */
void turns_add(Turns *turns, Turn *turn, const char *caller);
/* Removes the turn; does nothing if it is not in the queue. */
void turn_drop(Turn *turn);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Turns, turns_free)
