/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Queues the runs that need a tick, behind one GSource. One turn of the main loop does only a part of a long queue, and
 * each entry at most once, so that buses and timers get their share.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Ticker Ticker;

/* Embedded in the object that is ticked. Set tick and userdata, and zero the rest. tick may free the entry. */
typedef struct TickerEntry {
        void (*tick)(void *userdata);
        void *userdata;
        bool urgent; /* it is ticked also while the ticker is held; queue it again after a change */
        GList link;  /* private; its data is the queue that it is in, or NULL */
} TickerEntry;

Ticker *ticker_new(GMainContext *context);
void ticker_free(Ticker *ticker);

/* Queues the entry for one tick; does nothing if it is already queued. */
void ticker_queue(Ticker *ticker, TickerEntry *entry);
void ticker_remove(Ticker *ticker, TickerEntry *entry);

/* While the ticker is held, only urgent entries are ticked. */
void ticker_hold(Ticker *ticker, bool held);
bool ticker_is_held(const Ticker *ticker);

/* Queues an entry whose input may be a part of the shutdown of the machine. It is not ticked before the answer to a
 * question that was asked after this; doubted() is told to ask. Without that, there are no doubts. An entry that has
 * new doubts all the time waits for two answers. */
void ticker_queue_in_doubt(Ticker *ticker, TickerEntry *entry);
void ticker_set_doubted(Ticker *ticker, void (*doubted)(void *userdata), void *userdata);
/* Somebody asks about all entries that are in doubt now. */
void ticker_ask(Ticker *ticker);
/* The answer has resolved the doubts about which was asked. True: others have come since. */
bool ticker_resolve(Ticker *ticker);

/* For simulations, which have no main loop: ticks the first entry. False: the queue is empty. */
bool ticker_tick(Ticker *ticker);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ticker, ticker_free)
