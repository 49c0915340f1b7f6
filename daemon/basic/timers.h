/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns all deadlines of btd: one GSource over a heap, so that a turn of the main loop costs the same with one timer or
 * with thousands. Times are microseconds of CLOCK_MONOTONIC, unless another clock is given.
 */

#include <glib.h>
#include <stdint.h>

typedef struct Timers Timers;
typedef struct Timer Timer;
typedef void (*TimerCallback)(void *userdata);

typedef enum TimerClock {
        TIMER_MONOTONIC, /* stops while the machine is suspended */
        TIMER_BOOTTIME,  /* continues while the machine is suspended, but does not wake it up */
} TimerClock;

Timers *timers_new(GMainContext *context);
/* Makes timers of a simulation: time begins at 0 and only moves in timers_jump(). Both clocks are the same then. */
Timers *timers_new_simulated(void);
void timers_free(Timers *timers);

/* Calls back once, usec from now. The caller owns the timer, also after it has expired; freeing it cancels it. A
 * callback may free its own timer and any other. */
Timer *timer_new(Timers *timers, uint64_t usec, TimerCallback callback, void *userdata);
/* The same at an absolute time; as soon as possible if it has passed. */
Timer *timer_new_at(Timers *timers, uint64_t deadline, TimerCallback callback, void *userdata);
/* The same at an absolute time of the given clock. */
Timer *timer_new_on(Timers *timers, TimerClock clock, uint64_t deadline, TimerCallback callback, void *userdata);
void timer_free(Timer *timer);

uint64_t timers_now(const Timers *timers, TimerClock clock);
/* How long the machine has been suspended since it booted, in microseconds: the difference of CLOCK_BOOTTIME and
 * CLOCK_MONOTONIC. */
uint64_t timers_suspended(const Timers *timers);

/* For simulations: the time of the first timer. UINT64_MAX: no timer will ever expire. */
uint64_t timers_next(const Timers *timers);
/* For simulations: jumps to that time, which must not be after timers_next(). Calls back all timers that have expired
 * then, in the order of their times, and of their creation. Timers that are created meanwhile wait for the next call,
 * even if they have the same time. */
void timers_jump(Timers *timers, uint64_t time);

/* The time at which it expires or has expired. */
uint64_t timer_deadline(const Timer *timer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timers, timers_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Timer, timer_free)
