/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulated time. After the first clock_begin(), all code of the process sees only this time: clock_gettime() is
 * defined here, and so are the timers of CLOCK_BOOTTIME, which continues while the machine is suspended.
 */

#include <stdint.h>

/* In microseconds. Forgets all suspends. */
void clock_begin(uint64_t now);
uint64_t clock_now(void);
void clock_set(uint64_t now);
/* Suspends the machine for this time, and resumes it. clock_suspended() is the sum. */
void clock_suspend(uint64_t usec);
uint64_t clock_suspended(void);
/* The daemon that set the timer has died. */
void clock_forget_timer(void);

/* CLOCK_REALTIME, simulated. */
uint64_t clock_wall(void);
/* Somebody sets the clock, forward or back, but not to a time before 1970. */
void clock_jump(int64_t usec);
/* The machine has booted without a battery: the clock says 1970. */
void clock_forget_date(void);

/* Between these two calls, the daemon runs Lua: each look at the clock of the processor has taken this time. */
void clock_begin_lua(uint64_t usec);
void clock_end_lua(void);

/* CLOCK_MONOTONIC of the machine. */
uint64_t clock_real(void);
/* The processor time of this process. */
uint64_t clock_processor(void);
