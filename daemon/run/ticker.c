/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the queues of runs that need a tick, and of those that are in doubt, behind one GSource. */

#include <stddef.h>

#include "run/ticker.h"

#define TURN_TICKS_MAX 64u
#define TURN_USEC_MAX 2000

struct Ticker {
        GSource source; /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        GQueue queue;
        GQueue urgent; /* what is ticked while the ticker is held; else empty */
        /* Of entries that are not ticked yet: before and after the question. [1]: those that came in doubt again while
         * the question before was asked. */
        GQueue in_doubt[2], asked[2];
        bool held;
        void (*doubted)(void *userdata);
        void *userdata;
};

static GQueue *ticked_queue(Ticker *ticker) {
        return ticker->held ? &ticker->urgent : &ticker->queue;
}

static bool ticker_has_work(Ticker *ticker) {
        return ticked_queue(ticker)->length > 0;
}

static gboolean ticker_prepare(GSource *source, int *ret_timeout) {
        *ret_timeout = -1;
        return ticker_has_work((Ticker *) source);
}

static gboolean ticker_check(GSource *source) {
        return ticker_has_work((Ticker *) source);
}

static TickerEntry *entry_of(GList *link) {
        return (TickerEntry *) ((char *) link - offsetof(TickerEntry, link));
}

bool ticker_tick(Ticker *ticker) {
        TickerEntry *entry;

        if (!ticker_has_work(ticker))
                return false;

        entry = entry_of(ticked_queue(ticker)->head);
        ticker_remove(ticker, entry);
        entry->tick(entry->userdata);
        return true;
}

/* An entry that is queued again meanwhile gets its turn in the next dispatch. */
static gboolean ticker_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Ticker *ticker = (Ticker *) source;
        int64_t until = g_get_monotonic_time() + TURN_USEC_MAX;

        for (unsigned left = MIN(ticked_queue(ticker)->length, TURN_TICKS_MAX); left > 0 && ticker_has_work(ticker);
             left--) {
                ticker_tick(ticker);
                if (g_source_is_destroyed(source))
                        return G_SOURCE_REMOVE;
                if (g_get_monotonic_time() >= until)
                        break;
        }

        return G_SOURCE_CONTINUE;
}

static GSourceFuncs ticker_funcs = {
        .prepare = ticker_prepare,
        .check = ticker_check,
        .dispatch = ticker_dispatch,
};

Ticker *ticker_new(GMainContext *context) {
        Ticker *ticker = (Ticker *) g_source_new(&ticker_funcs, sizeof(Ticker));

        g_queue_init(&ticker->queue);
        g_queue_init(&ticker->urgent);
        g_source_set_name(&ticker->source, "ticker");
        g_source_attach(&ticker->source, context);
        return ticker;
}

void ticker_free(Ticker *ticker) {
        if (!ticker)
                return;

        g_source_destroy(&ticker->source);
        g_source_unref(&ticker->source);
}

static void enter(TickerEntry *entry, GQueue *queue) {
        entry->link.data = queue;
        g_queue_push_tail_link(queue, &entry->link);
}

void ticker_queue(Ticker *ticker, TickerEntry *entry) {
        if (entry->urgent && ticker->held && entry->link.data != &ticker->urgent)
                ticker_remove(ticker, entry);
        if (!entry->link.data)
                enter(entry, entry->urgent ? ticked_queue(ticker) : &ticker->queue);
}

void ticker_remove(Ticker *ticker, TickerEntry *entry) {
        if (!entry->link.data)
                return;

        g_queue_unlink(entry->link.data, &entry->link);
        entry->link.data = NULL;
}

bool ticker_is_held(const Ticker *ticker) {
        return ticker->held;
}

void ticker_set_doubted(Ticker *ticker, void (*doubted)(void *userdata), void *userdata) {
        ticker->doubted = doubted;
        ticker->userdata = userdata;
}

void ticker_queue_in_doubt(Ticker *ticker, TickerEntry *entry) {
        const GQueue *now = entry->link.data;

        if (!ticker->doubted) {
                ticker_queue(ticker, entry);
                return;
        }

        if (now == &ticker->in_doubt[0] || now == &ticker->in_doubt[1] || now == &ticker->asked[1])
                return;

        ticker_remove(ticker, entry);
        enter(entry, &ticker->in_doubt[now == &ticker->asked[0]]);
        ticker->doubted(ticker->userdata);
}

static void move_all(GQueue *from, GQueue *to) {
        GList *link;

        while ((link = g_queue_pop_head_link(from))) {
                link->data = to;
                g_queue_push_tail_link(to, link);
        }
}

void ticker_hold(Ticker *ticker, bool held) {
        GList *link = held && !ticker->held ? ticker->queue.head : NULL;

        ticker->held = held;
        while (link) {
                TickerEntry *entry = entry_of(link);

                link = link->next;
                if (entry->urgent)
                        ticker_queue(ticker, entry);
        }
        if (!held)
                move_all(&ticker->urgent, &ticker->queue);
}

void ticker_ask(Ticker *ticker) {
        for (unsigned again = 0; again < 2; again++)
                move_all(&ticker->in_doubt[again], &ticker->asked[again]);
}

bool ticker_resolve(Ticker *ticker) {
        for (unsigned again = 2; again-- > 0;)
                move_all(&ticker->asked[again], &ticker->queue);
        return ticker->in_doubt[0].length + ticker->in_doubt[1].length > 0;
}
