/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements fair queueing. A turn gets a number: one more than the last waiting turn of the same caller, or than the
 * turn of the user that was done last. The queue of a user is sorted by these numbers. In the same way, a user has a
 * number: one more than the user whose turn was done last. The user with the lowest number is next. */

#include "service/turns.h"
#include "basic/foreach.h"
#include "basic/limit.h"

/* Time limit in one turn of the main loop. */
#define BUDGET_USEC 1000
/* After each piece of a turn that has taken so long in total, and while other turns wait, a queue can rest for as long
 * as that piece took, but not longer than the maximum: the process may have been stopped in the piece. */
#define LONG_USEC 5000
#define REST_MAX_USEC 20000

typedef struct TurnsOfUser {
        Turns *turns;
        uint32_t uid;
        uint64_t number;
        uint64_t last; /* the number of the turn that was done last */
        GQueue queue;  /* Turn */
} TurnsOfUser;

struct Turns {
        GSource source;   /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        GPtrArray *users; /* TurnsOfUser, with turns that wait */
        Turn *begun;      /* it is done in pieces, before any other but those of root; or NULL */
        uint64_t number;
        int64_t rests_until;      /* monotonic */
        int64_t users_rest_until; /* the same for users with a share */
        bool open, rests;
        bool (*take)(Turn *turn, int64_t until);
        bool (*may)(uint32_t uid, void *userdata);
        void *userdata;
};

static bool may_take(const Turns *turns, const TurnsOfUser *user) {
        return !turns->may || turns->may(user->uid, turns->userdata);
}

/* NULL: there is none now. */
static Turn *next_turn(const Turns *turns) {
        bool rest = turns->users_rest_until > g_get_monotonic_time();
        const TurnsOfUser *next = NULL;

        PTRS_FOREACH(const TurnsOfUser, user, turns->users) {
                if ((rest && limits_bind(user->uid)) || !may_take(turns, user))
                        continue;
                if (!limits_bind(user->uid))
                        return user->queue.head->data;
                if (!next || user->number < next->number)
                        next = user;
        }
        if (!rest && turns->begun && may_take(turns, turns->begun->of))
                return turns->begun;
        return next ? next->queue.head->data : NULL;
}

static bool is_due(const Turns *turns) {
        return turns->open && next_turn(turns);
}

static gboolean source_prepare(GSource *source, int *ret_timeout) {
        const Turns *turns = (Turns *) source;
        int64_t now = g_source_get_time(source), left = turns->rests_until - now;

        if (!is_due(turns)) {
                left = turns->users_rest_until - now;
                *ret_timeout = turns->open && turns->users->len > 0 && left > 0 ? (int) (left / 1000 + 1) : -1;
                return FALSE;
        }

        *ret_timeout = left > 0 ? (int) ((left + 999) / 1000) : 0;
        return *ret_timeout == 0;
}

static gboolean source_check(GSource *source) {
        const Turns *turns = (Turns *) source;

        return is_due(turns) && turns->rests_until <= g_source_get_time(source);
}

static TurnsOfUser *user_of(Turns *turns, uint32_t uid) {
        TurnsOfUser *user;

        for (unsigned i = 0; i < turns->users->len; i++) {
                user = turns->users->pdata[i];
                if (user->uid == uid)
                        return user;
        }

        user = g_new0(TurnsOfUser, 1);
        user->turns = turns;
        user->uid = uid;
        user->number = turns->number + 1;
        g_ptr_array_add(turns->users, user);
        return user;
}

static void queue_at(TurnsOfUser *user, Turn *turn, GList *before) {
        turn->of = user;
        turn->link.data = turn;
        g_queue_insert_after_link(&user->queue, before, &turn->link);
}

static gboolean source_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Turns *turns = (Turns *) source;
        int64_t now = g_get_monotonic_time(), until = now + BUDGET_USEC;

        for (Turn *turn; turns->open && (turn = next_turn(turns));) {
                uint32_t uid = turn->of->uid;
                uint64_t number = turn->number;
                int64_t begin = now, took = turn->took;
                bool done;

                if (limits_bind(uid) && turn != turns->begun)
                        turns->number = MAX(turns->number, turn->of->number);
                turn->of->number = turns->number + 1;
                turn->of->last = number;
                turn_drop(turn);
                done = turns->take(turn, until);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
                now = g_get_monotonic_time();
                took += now - begin;
                if (turns->rests && took >= LONG_USEC && turns->users->len > 0)
                        turns->rests_until = now + MIN(now - begin, REST_MAX_USEC);
                if (!done) {
                        turn->took = took;
                        queue_at(user_of(turns, uid), turn, NULL);
                        turns->begun = turn;
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

Turns *turns_new(GMainContext *context, bool (*take)(Turn *turn, int64_t until),
                 bool (*may)(uint32_t uid, void *userdata), bool rests, void *userdata) {
        Turns *turns = (Turns *) g_source_new(&source_funcs, sizeof(Turns));

        turns->users = g_ptr_array_new_with_free_func(g_free);
        turns->begun = NULL;
        turns->number = 0;
        turns->rests_until = turns->users_rest_until = 0;
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
        g_clear_pointer(&turns->users, g_ptr_array_unref);
        g_source_unref(&turns->source);
}

void turns_rest(Turns *turns, int64_t until) {
        turns->users_rest_until = until;
}

void turns_open(Turns *turns) {
        turns->open = true;
}

void turns_add(Turns *turns, Turn *turn, uint32_t uid, const char *caller) {
        TurnsOfUser *user = user_of(turns, uid);
        const GList *last = user->queue.tail;
        GList *before = user->queue.tail;
        uint64_t number;

        while (last && !g_str_equal(((const Turn *) last->data)->caller, caller))
                last = last->prev;
        number = last ? ((const Turn *) last->data)->number : user->last;
        *turn = (Turn){ .number = number + 1, .uid = uid, .caller = caller };
        while (before && ((const Turn *) before->data)->number > turn->number)
                before = before->prev;

        queue_at(user, turn, before);
}

void turn_drop(Turn *turn) {
        TurnsOfUser *user = turn->of;

        if (!user)
                return;

        if (user->turns->begun == turn)
                user->turns->begun = NULL;
        g_queue_unlink(&user->queue, &turn->link);
        turn->of = NULL;
        if (user->queue.length == 0)
                g_ptr_array_remove_fast(user->turns->users, user);
}
