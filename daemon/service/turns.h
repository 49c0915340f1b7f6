/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns a fair queue: users take turns, and so do the callers (connections) of each user, however many turns one of them
 * has queued. The turns of root and of btd's own user come first. A long turn is done in pieces, at most one in each
 * turn of the main loop, so that runs continue in between.
 *
 * A queue can rest after pieces of long turns. Beside other busy processes, one that never sleeps waits in the kernel's
 * run queue, and its runs wait with it, whatever their priority is in the main loop.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Turns Turns;

typedef struct Turn {
        GList link; /* private, like the next five */
        uint64_t number;
        int64_t took; /* microseconds, so far */
        uint32_t uid;
        const char *caller;
        struct TurnsOfUser *of; /* NULL: it is not in the queue */
} Turn;

/* take: does the turn until the given time (CLOCK_MONOTONIC, microseconds). False: there is more to do; take() is
 * called again in a later turn of the main loop, before any other turn. True: the turn has left the queue. may: can a
 * turn be done of this user now? Called in each turn of the main loop; NULL:
 * always. rests: does the queue rest in turns that take 5 ms and more, while others wait? */
Turns *turns_new(GMainContext *context, bool (*take)(Turn *turn, int64_t until),
                 bool (*may)(uint32_t uid, void *userdata), bool rests, void *userdata);
void turns_free(Turns *turns);

/* Starts the queue. Until then, turns wait. */
void turns_open(Turns *turns);

/* Until then (CLOCK_MONOTONIC, microseconds), only root and btd's own user have turns. */
void turns_rest(Turns *turns, int64_t until);

/* Queues a turn of a caller of this user. Borrows the turn and the caller's name; both must stay valid and in place. */
void turns_add(Turns *turns, Turn *turn, uint32_t uid, const char *caller);
/* Removes the turn; does nothing if it is not in the queue. */
void turn_drop(Turn *turn);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Turns, turns_free)
