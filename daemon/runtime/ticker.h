/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whose turn it is: everything that wants to be ticked waits in one queue behind one GSource. A turn of the main
 * loop takes only a part of a long queue, and nobody twice, so that the buses and the timers get their share.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Ticker Ticker;

/* Kept by whoever is ticked; zeroed but for the callback and its userdata. tick may free the entry. */
typedef struct TickerEntry {
        void (*tick)(void *userdata);
        void *userdata;
        GList link; /* the ticker's, as is queued */
        bool queued;
} TickerEntry;

Ticker *ticker_new(GMainContext *context);
void ticker_free(Ticker *ticker);

/* To be ticked once, soon; nothing when it waits already. */
void ticker_queue(Ticker *ticker, TickerEntry *entry);
void ticker_remove(Ticker *ticker, TickerEntry *entry);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ticker, ticker_free)
