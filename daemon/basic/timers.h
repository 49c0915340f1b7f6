/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * All deadlines of the daemon in one GSource over a heap, so that thousands of them do not make
 * a turn of the main loop slower. Times are CLOCK_MONOTONIC microseconds.
 */

#include <glib.h>
#include <stdint.h>

typedef struct Timers Timers;
typedef struct Timer Timer;
typedef void (*TimerCallback)(void *userdata);

Timers *timers_new(GMainContext *context);
void timers_free(Timers *timers);

/* Calls back once, usec from now. The caller owns the timer, which is still his after it has expired;
 * freeing it cancels. A callback may free its own timer and any other. */
Timer *timer_new(Timers *timers, uint64_t usec, TimerCallback callback, void *userdata);
/* The same at a given time; at once, if that has passed. */
Timer *timer_new_at(Timers *timers, uint64_t deadline, TimerCallback callback, void *userdata);
void timer_free(Timer *timer);

/* When it expires or has expired. */
uint64_t timer_deadline(const Timer *timer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timers, timers_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timer, timer_free)
