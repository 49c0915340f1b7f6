/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulated time. From the first clock_begin() on, all code of the process sees no other: clock_gettime() is defined
 * here, and so are the timers of CLOCK_BOOTTIME, which continues while the machine is suspended.
 */

#include <stdint.h>

/* Microseconds. No suspend has been before that. */
void clock_begin(uint64_t now);
uint64_t clock_now(void);
void clock_set(uint64_t now);
/* The machine is suspended for so long, and resumed: in all, for clock_suspended(). */
void clock_suspend(uint64_t usec);
uint64_t clock_suspended(void);
/* The daemon that had it is gone. */
void clock_forget_timer(void);

/* What a clock on the wall would say. */
uint64_t clock_real(void);
/* What this process has used of a processor. */
uint64_t clock_processor(void);
