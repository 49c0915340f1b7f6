/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Whether a run of a tree that has ended by itself is followed by another, and whether one that has not goes on with
 * another daemon, as the tree file says.
 */

#include "engine/backoff.h"

/* What becomes of a run when the daemon is stopped and may come again. */
typedef enum OnStop {
        ON_STOP_KEEP, /* it goes on with the next daemon */
        ON_STOP_HALT,
} OnStop;

typedef enum RestartWhen {
        RESTART_NO,
        RESTART_ON_FAILURE, /* after FAILURE and ERROR */
        RESTART_ALWAYS,     /* whenever it has not been halted */
} RestartWhen;

#define RESTART_BURST_MAX 1000

/* Not more than so many within the interval. */
typedef struct RestartLimit {
        int64_t burst;
        uint64_t interval;
} RestartLimit;

typedef struct RestartPolicy {
        int when; /* RestartWhen */
        const Backoff *backoff;
        const RestartLimit *limit;
} RestartPolicy;
