/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Describes when a run is restarted after it has finished by itself, and whether a running one is kept when the daemon
 * stops, as the tree file declares. The runtime uses it.
 */

#include "engine/backoff.h"

/* The key "on_stop": decides what a stop of the daemon does to a run. */
typedef enum OnStop {
        ON_STOP_KEEP, /* the next daemon continues it */
        ON_STOP_HALT,
} OnStop;

typedef enum RestartWhen {
        RESTART_NO,
        RESTART_ON_FAILURE, /* after FAILURE and ERROR */
        RESTART_ALWAYS,     /* unless it was halted */
} RestartWhen;

#define RESTART_BURST_MAX 1000

/* The maximum number of restarts within the interval, in microseconds. */
typedef struct RestartLimit {
        int64_t burst;
        uint64_t interval;
} RestartLimit;

typedef struct RestartPolicy {
        int when; /* RestartWhen */
        const Backoff *backoff;
        const RestartLimit *limit;
} RestartPolicy;

extern const char *const restart_names[]; /* of RestartWhen */

/* True if a run with this result is to be restarted, subject to the limit. */
static inline bool restart_is_wanted(const RestartPolicy *policy, Status status) {
        switch (status) {
        case STATUS_FAILURE:
        case STATUS_ERROR:
                return policy->when != RESTART_NO;
        case STATUS_SUCCESS:
        case STATUS_SKIPPED:
                return policy->when == RESTART_ALWAYS;
        default:
                return false;
        }
}
