/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the queue as a GSource. */

#include "run/ticker.h"

#define TURN_TICKS_MAX 64u
#define TURN_USEC_MAX 2000

struct Ticker {
        GSource source; /* must be the first member; GLib keeps it alive until the last dispatch has returned */
        GQueue queue;
};

static gboolean ticker_prepare(GSource *source, int *ret_timeout) {
        *ret_timeout = -1;
        return !g_queue_is_empty(&((Ticker *) source)->queue);
}

static gboolean ticker_check(GSource *source) {
        return !g_queue_is_empty(&((Ticker *) source)->queue);
}

bool ticker_tick(Ticker *ticker) {
        TickerEntry *entry;

        if (ticker->queue.length == 0)
                return false;

        entry = g_queue_pop_head_link(&ticker->queue)->data;
        entry->link.data = NULL;
        entry->tick(entry->userdata);
        return true;
}

/* An entry that is queued again meanwhile gets its turn in the next dispatch. */
static gboolean ticker_dispatch(GSource *source, GSourceFunc callback, void *userdata) {
        Ticker *ticker = (Ticker *) source;
        int64_t until = g_get_monotonic_time() + TURN_USEC_MAX;

        for (unsigned left = MIN(ticker->queue.length, TURN_TICKS_MAX); left > 0 && ticker->queue.length > 0; left--) {
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

void ticker_queue(Ticker *ticker, TickerEntry *entry) {
        if (entry->link.data)
                return;

        entry->link = (GList){ .data = entry };
        g_queue_push_tail_link(&ticker->queue, &entry->link);
}

void ticker_remove(Ticker *ticker, TickerEntry *entry) {
        if (!entry->link.data)
                return;

        g_queue_unlink(&ticker->queue, &entry->link);
        entry->link.data = NULL;
}
