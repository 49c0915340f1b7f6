/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements fair queueing. A turn gets a number: one more than the last waiting turn of the same caller, or than the
 * turn that was done last. The queue is sorted by these numbers. */

#include "service/turns.h"

/* Time limit in one turn of the main loop. */
#define BUDGET_USEC 1000
/* After each piece of a turn that has taken so long in total, and while other turns wait, a queue can rest for as long
 * as that piece took, but not longer than the maximum: the process may have been stopped in the piece. */
#define LONG_USEC 5000
#define REST_MAX_USEC 20000

struct Turns {
        GSource source; /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        GQueue queue;   /* Turn */
        uint64_t number;
        int64_t rests_until; /* monotonic */
        bool open, rests;
        bool (*take)(Turn *turn, int64_t until);
        bool (*may)(void *userdata);
        void *userdata;
};

static bool is_due(const Turns *turns) {
        return turns->open && turns->queue.length > 0 && (!turns->may || turns->may(turns->userdata));
}

static gboolean source_prepare(GSource *source, int *ret_timeout) {
        const Turns *turns = (Turns *) source;
        int64_t left = turns->rests_until - g_source_get_time(source);

        *ret_timeout = !is_due(turns) ? -1 : left > 0 ? (int) ((left + 999) / 1000) : 0;
        return *ret_timeout == 0;
}

static gboolean source_check(GSource *source) {
        const Turns *turns = (Turns *) source;

        return is_due(turns) && turns->rests_until <= g_source_get_time(source);
}

/* Puts the turn back to the front: it has the lowest number. */
static void queue_first(Turns *turns, Turn *turn) {
        turn->turns = turns;
        g_queue_push_head_link(&turns->queue, &turn->link);
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Turns *turns = (Turns *) source;
        int64_t now = g_get_monotonic_time(), until = now + BUDGET_USEC;

        while (is_due(turns)) {
                Turn *turn = turns->queue.head->data;
                int64_t begin = now, took = turn->took;
                bool done;

                turns->number = turn->number;
                turn_drop(turn);
                done = turns->take(turn, until);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
                now = g_get_monotonic_time();
                took += now - begin;
                if (turns->rests && took >= LONG_USEC && turns->queue.length > 0)
                        turns->rests_until = now + MIN(now - begin, REST_MAX_USEC);
                if (!done) {
                        turn->took = took;
                        queue_first(turns, turn);
                }
                if (now >= until)
                        break;
        }

        return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
};

Turns *turns_new(GMainContext *context, bool (*take)(Turn *turn, int64_t until), bool (*may)(void *userdata),
                 bool rests, void *userdata) {
        Turns *turns = (Turns *) g_source_new(&source_funcs, sizeof(Turns));

        g_queue_init(&turns->queue);
        turns->number = 0;
        turns->rests_until = 0;
        turns->open = false;
        turns->rests = rests;
        turns->take = take;
        turns->may = may;
        turns->userdata = userdata;
        g_source_set_name(&turns->source, "turns");
        g_source_attach(&turns->source, context);
        return turns;
}

void turns_free(Turns *turns) {
        if (!turns)
                return;

        g_source_destroy(&turns->source);
        g_source_unref(&turns->source);
}

void turns_open(Turns *turns) {
        turns->open = true;
}

static uint64_t next_number(const Turns *turns, const char *caller) {
        for (const GList *link = turns->queue.tail; link; link = link->prev) {
                const Turn *turn = link->data;

                if (g_str_equal(turn->caller, caller))
                        return turn->number + 1;
        }

        return turns->number + 1;
}

void turns_add(Turns *turns, Turn *turn, const char *caller) {
        GList *before = turns->queue.tail;

        *turn = (Turn){ .number = next_number(turns, caller), .caller = caller, .turns = turns };
        turn->link.data = turn;
        while (before && ((const Turn *) before->data)->number > turn->number)
                before = before->prev;

        g_queue_insert_after_link(&turns->queue, before, &turn->link);
}

void turn_drop(Turn *turn) {
        if (!turn->turns)
                return;

        g_queue_unlink(&turn->turns->queue, &turn->link);
        turn->turns = NULL;
}
