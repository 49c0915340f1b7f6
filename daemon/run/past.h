/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns what has happened to a recovered run while no btd was there, until each of its leaves has been read. Then it
 * tells it in the order of time, so that a limit counts only against what had not ended by then.
 */

#include "basic/timers.h"
#include "engine/tree.h"

typedef struct Past Past;

typedef struct PastEvent {
        uint64_t time; /* CLOCK_MONOTONIC, microseconds */
        NodeId node;
        bool limit; /* the timer of the node has expired; else the leaf has ended */
} PastEvent;

/* read: all leaves have been read, or it took too long; called once, unless the Past is freed before. */
Past *past_new(Timers *timers, void (*read)(void *userdata), void *userdata);
void past_free(Past *past);

/* For each leaf that is to be read. */
void past_begin_reading(Past *past);
void past_end_reading(Past *past);

/* A leaf may be kept twice; the earlier time is right. */
void past_keep(Past *past, const PastEvent *event);
/* Sorted by time; at the same time, ends before limits. Borrowed. */
const PastEvent *past_sort(Past *past, unsigned *ret_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Past, past_free)
