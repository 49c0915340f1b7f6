/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the request and the result of one process of Spawn, which the two ways to run it have in common:
 * spawn-child.c and spawn-unit.c.
 */

#include "leaf-types/spawn.h"
#include "run/leaf.h"

typedef struct SpawnRequest {
        const Leaf *leaf;
        const SpawnParams *params;
        unsigned repetition; /* of the leaf's program, from 1; 0: the program runs once */
        bool recovering;     /* the previous daemon may have started it already */
        bool confirmed;      /* ... and systemd has told it that it has the unit */
        int kill_signal;     /* its number */
        int fds[3];          /* for stdin, stdout and stderr; -1: empty input, and output to the journal */
} SpawnRequest;

/* How the process ended: error says why it never ran; otherwise code and status are as in siginfo_t. */
typedef struct SpawnEnd {
        const char *error;
        bool gone; /* it was started, and its unit was removed while btd was not running */
        int code, status;
        uint64_t time;                    /* when, CLOCK_MONOTONIC µs; 0: not known */
        const char *result;               /* the result of the unit ("oom-kill", "timeout", ...), or NULL */
        const char *unit, *invocation_id; /* the unit whose log may say more, or NULL */
} SpawnEnd;

/* Called once, from the main loop, when no process of the request is running any more. */
typedef void (*SpawnEnded)(const SpawnEnd *end, void *userdata);
/* Called when systemd has confirmed that it has the unit: before that, it may never have got the request; or when the
 * child was started. After a recovery, called if the process still runs. */
typedef void (*SpawnConfirmed)(void *userdata);
