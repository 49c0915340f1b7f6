/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Computes the delays between attempts: they grow by a factor up to a limit; then a random part is taken off. */

#include <glib.h>

#include "engine/backoff.h"

uint64_t backoff_delay(const Backoff *backoff, uint32_t n, double chance) {
        double delay = (double) backoff->initial;

        if (backoff->initial == UINT64_MAX)
                return UINT64_MAX;

        for (uint32_t i = 1; i < n && delay < backoff->max && backoff->factor > 1; i++)
                delay *= backoff->factor;

        delay = MIN(delay, (double) backoff->max);
        return delay < (double) UINT64_MAX ? (uint64_t) (delay * (1.0 - backoff->jitter * chance)) : UINT64_MAX;
}

bool backoff_is_at_max(const Backoff *backoff) {
        return backoff->initial > backoff->max && backoff->initial != UINT64_MAX;
}

const Param backoff_members[] = {
        { .name = "initial",
          .kind = PARAM_SPAN,
          .offset = offsetof(Backoff, initial),
          .required = true,
          .doc = "The first delay" },
        { .name = "factor",
          .kind = PARAM_NUMBER,
          .offset = offsetof(Backoff, factor),
          .fallback = "2",
          .min = 1,
          .max = 1000,
          .doc = "Each delay is this many times as long as the previous one" },
        { .name = "max",
          .kind = PARAM_SPAN,
          .offset = offsetof(Backoff, max),
          .fallback = "\"1min\"",
          .doc = "The longest delay" },
        { .name = "jitter",
          .kind = PARAM_NUMBER,
          .offset = offsetof(Backoff, jitter),
          .fallback = "0",
          .min = 0,
          .max = 1,
          .doc = "The random part of each delay, so that many machines do not retry at the same time" },
        {},
};
