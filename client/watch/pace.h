/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decides when btctl watch draws its next picture. It has no clock: times are CLOCK_MONOTONIC µs of the caller. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least time between two pictures that no key asks for. */
#define PACE_LEAST_USEC (100 * UINT64_C(1000))

typedef struct Pace {
        uint64_t drawn; /* when the last picture was drawn; 0: never */
        uint64_t pause; /* at least PACE_LEAST_USEC; more if the terminal is slow */
        int64_t credit; /* how many bytes may change now */
} Pace;

#define PACE_INIT                                                                                                      \
        { .pause = PACE_LEAST_USEC }

/* When to draw. pause: since the last picture; 0: a key asks for it, now. */
uint64_t pace_next(const Pace *pace, uint64_t now, uint64_t pause);

/* Whether btctl was stopped, or the terminal took nothing, for so long that btd may have removed the subscription. */
bool pace_has_stalled(const Pace *pace, uint64_t now);

void pace_begin_picture(Pace *pace, uint64_t now);
/* n: how many bytes of the screen have changed. took: how long the terminal needed to take them. */
void pace_end_picture(Pace *pace, size_t n, uint64_t took);
