/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "client/watch/pace.h"

#include <glib.h>

#define SECOND_USEC UINT64_C(1000000)
/* How much of a screen may change in each second, in bytes, so that a line of 9,600 baud also has room for keys; for a
 * moment, it may be more. But if all of a large screen changes all the time, there is a picture each second. */
#define RATE 700
#define CREDIT_MAX 3000
/* A slow line takes pictures only until its buffers are full; then each key is answered only after all of them. So if
 * drawing takes that long, pictures become rarer, and slowly more frequent again. */
#define SLOW_USEC (50 * UINT64_C(1000))
#define RAREST_USEC (6 * SECOND_USEC)
/* After such a pause between two pictures, btctl was stopped, or the terminal took nothing. btd removes subscribers
 * that do not read for half a minute, and what was sent before that has come too late. */
#define STALL_USEC (5 * SECOND_USEC)

uint64_t pace_next(const Pace *pace, uint64_t now, uint64_t pause) {
        uint64_t rest = pace->credit < 0 ? MIN((uint64_t) -pace->credit * SECOND_USEC / RATE, SECOND_USEC) : 0;

        return pause > 0 ? MAX(pace->drawn + MAX(pause, MAX(pace->pause, rest)), now) : now;
}

bool pace_has_stalled(const Pace *pace, uint64_t now) {
        return pace->drawn > 0 && now - pace->drawn > STALL_USEC + pace->pause;
}

void pace_begin_picture(Pace *pace, uint64_t now) {
        pace->credit += (int64_t) (MIN(now - pace->drawn, 10 * SECOND_USEC) * RATE / SECOND_USEC);
        pace->credit = MIN(pace->credit, CREDIT_MAX);
        pace->drawn = now;
}

void pace_end_picture(Pace *pace, size_t n, uint64_t took) {
        pace->credit = MAX(pace->credit - (int64_t) n, -CREDIT_MAX);
        if (took > SLOW_USEC)
                pace->pause = MIN(MAX(pace->pause * 2, took * 4), RAREST_USEC);
        else
                pace->pause = MAX(pace->pause - pace->pause / 50, PACE_LEAST_USEC);
}
