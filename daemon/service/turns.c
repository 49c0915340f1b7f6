/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Fair queueing: what is added has the number of the last of the same caller that waits, or of the one that had its
 * turn last, plus one; the queue is in the order of the numbers. */

#include "service/turns.h"

#define BUDGET_USEC 2000

struct Turns {
        GSource source; /* first: the source is the object, alive until the last dispatch has returned */
        GQueue queue;   /* of Turn */
        uint64_t number;
        bool open;
        void (*take)(Turn *turn);
        bool (*may)(void *userdata);
        void *userdata;
};

static bool is_due(const Turns *turns) {
        return turns->open && turns->queue.length > 0 && (!turns->may || turns->may(turns->userdata));
}

static gboolean source_prepare(GSource *source, int *ret_timeout) {
        *ret_timeout = -1;
        return is_due((Turns *) source);
}

static gboolean source_check(GSource *source) {
        return is_due((Turns *) source);
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Turns *turns = (Turns *) source;
        int64_t until = g_get_monotonic_time() + BUDGET_USEC;

        while (is_due(turns)) {
                Turn *turn = turns->queue.head->data;

                turn_drop(turn);
                turns->number = turn->number;
                turns->take(turn);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
                if (g_get_monotonic_time() >= until)
                        break;
        }

        return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = {
        .prepare = source_prepare,
        .check = source_check,
        .dispatch = source_dispatch,
};

Turns *turns_new(GMainContext *context, void (*take)(Turn *turn), bool (*may)(void *userdata), void *userdata) {
        Turns *turns = (Turns *) g_source_new(&source_funcs, sizeof(Turns));

        g_queue_init(&turns->queue);
        turns->number = 0;
        turns->open = false;
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

        *turn = (Turn){ .number = next_number(turns, caller), .caller = caller, .queue = &turns->queue };
        turn->link.data = turn;
        while (before && ((const Turn *) before->data)->number > turn->number)
                before = before->prev;

        g_queue_insert_after_link(&turns->queue, before, &turn->link);
}

void turn_drop(Turn *turn) {
        if (!turn->queue)
                return;

        g_queue_unlink(turn->queue, &turn->link);
        turn->queue = NULL;
}
