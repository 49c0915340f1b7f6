/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A clock that a test can stop, and move: it is what btd's code in the same program reads for CLOCK_MONOTONIC, and by
 * which its timers expire. Link `clock_helpers`.
 */

#include <stdint.h>

void clock_stop(void);
void clock_move(int64_t usec);
/* It does not go back to the time that it would have without the test. */
void clock_continue(void);
