/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The requests and results that the two ways to run a process have in common: spawn-child.c and
 * spawn-unit.c.
 */

#include "leaf-types/spawn.h"
#include "run/leaf.h"

typedef struct SpawnRequest {
        const Leaf *leaf;
        const SpawnParams *params;
        unsigned repetition; /* of the leaf's program, 0 when there is but one */
        bool recovering;     /* the previous daemon may have started it already */
        int kill_signal;     /* its number */
        int fds[3];          /* for stdin, stdout and stderr; -1: nothing to read, and the journal */
} SpawnRequest;

/* How it ended: what could not be done, so that it never ran; or as in siginfo_t. */
typedef struct SpawnEnd {
        const char *error;
        int code, status;
        const char *result;               /* what systemd had to do with it ("oom-kill", "timeout", ...), or NULL */
        const char *unit, *invocation_id; /* whose journal may say more, or NULL */
} SpawnEnd;

/* Called once, from the main loop, when nothing of it is running any more. */
typedef void (*SpawnEnded)(const SpawnEnd *end, void *userdata);
