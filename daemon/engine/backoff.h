/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Growing pauses between attempts, and how tree files write them.
 */

#include "engine/type.h"

/* Microseconds, but for the factor and the jitter, which is the part of a pause that is left to chance. */
typedef struct Backoff {
        uint64_t initial, max;
        double factor, jitter;
} Backoff;

/* The members of such an object, for a PARAM_OBJECT. */
extern const Param backoff_members[];

/* The pause that follows the n-th attempt, from 1. chance: from 0 to less than 1. */
uint64_t backoff_pause(const Backoff *backoff, uint32_t n, double chance);
