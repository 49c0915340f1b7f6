/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A tree in order of time: so much is never planned that it would matter. */

#include "agenda.h"
#include "clock.h"

typedef struct Item {
        uint64_t time, serial;
        AgendaDo what;
        void *userdata;
        GDestroyNotify drop;
} Item;

static GSequence *items;
static uint64_t next_serial;

static int compare_items(gconstpointer a, gconstpointer b, gpointer userdata) {
        const Item *x = a, *y = b;

        if (x->time != y->time)
                return x->time < y->time ? -1 : 1;

        return (x->serial > y->serial) - (x->serial < y->serial);
}

static void item_free(void *data) {
        Item *item = data;

        if (item->drop)
                item->drop(item->userdata);
        g_free(item);
}

void agenda_add(uint64_t usec, AgendaDo what, void *userdata, GDestroyNotify drop) {
        Item *item = g_new(Item, 1);

        if (!items)
                items = g_sequence_new(item_free);

        *item = (Item){
                .time = clock_now() + usec,
                .serial = next_serial++,
                .what = what,
                .userdata = userdata,
                .drop = drop,
        };
        g_sequence_insert_sorted(items, item, compare_items, NULL);
}

uint64_t agenda_next(void) {
        GSequenceIter *first = items ? g_sequence_get_begin_iter(items) : NULL;

        return first && !g_sequence_iter_is_end(first) ? ((Item *) g_sequence_get(first))->time : UINT64_MAX;
}

void agenda_run(void) {
        while (agenda_next() <= clock_now()) {
                GSequenceIter *first = g_sequence_get_begin_iter(items);
                Item *item = g_sequence_get(first), done = *item;

                item->drop = NULL;
                g_sequence_remove(first);
                done.what(done.userdata);
        }
}

void agenda_clear(void) {
        g_clear_pointer(&items, g_sequence_free);
}
