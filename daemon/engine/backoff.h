/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Computes growing delays between attempts, and describes their parameters in a tree file. RetryUntilSuccessful and the
 * restarts of runs use them.
 */

#include "engine/type.h"

/* The times are in microseconds. jitter: the random part of a delay, from 0 to 1. */
typedef struct Backoff {
        uint64_t initial, max;
        double factor, jitter;
} Backoff;

/* The members of a Backoff, for a PARAM_OBJECT. */
extern const Param backoff_members[];

/* Is the first delay already longer than the longest one? */
bool backoff_is_at_max(const Backoff *backoff);

/* The delay after the n-th attempt, from 1; UINT64_MAX: never. chance: from 0 to less than 1. */
uint64_t backoff_delay(const Backoff *backoff, uint32_t n, double chance);
