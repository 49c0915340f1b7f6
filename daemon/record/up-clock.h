/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Gives the age of what is stored on the disk: a clock in microseconds that advances while the machine is up, and
 * continues after a restart of the machine where it was. No wall clock sets it: some machines boot in 1970.
 */

#include "basic/timers.h"

typedef struct UpClock UpClock;

/* directory: where the difference to CLOCK_BOOTTIME is stored until the next boot; NULL: it is not. */
UpClock *up_clock_new(Timers *timers, const char *directory);
void up_clock_free(UpClock *clock);

/* Reads what the previous btd stored; call it once. */
void up_clock_open(UpClock *clock);
/* From now on, the clock is later than this time, which was stored in this boot or before it. */
void up_clock_pass(UpClock *clock, uint64_t time);
uint64_t up_clock_now(const UpClock *clock);
/* So many days before now; 0: before the clock began. */
uint64_t up_clock_days_ago(const UpClock *clock, unsigned days);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(UpClock, up_clock_free)
