/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How much a random test does: BTD_ROUNDS, a number, multiplies it. The nightly run sets it.
 */

#include <stdlib.h>

static inline unsigned rounds(unsigned n) {
        const char *times = getenv("BTD_ROUNDS");

        return times ? n * (unsigned) strtoul(times, NULL, 10) : n;
}
