/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Simulated time. From the first clock_set() on, all code of the process sees no other: clock_gettime() is defined
 * here.
 */

#include <stdint.h>

/* Microseconds. */
uint64_t clock_now(void);
void clock_set(uint64_t now);

/* What a clock on the wall would say. */
uint64_t clock_real(void);
/* What this process has used of a processor. */
uint64_t clock_processor(void);
