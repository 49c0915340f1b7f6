/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The parameters, requests and results that the two ways to run a process have in common: spawn-child.c and
 * spawn-unit.c.
 */

#include "run/leaf.h"

/* Values of SpawnParams.as */
enum {
        SPAWN_AS_AUTO,
        SPAWN_AS_UNIT,
        SPAWN_AS_CHILD,
};

typedef struct SpawnParams {
        const char *const *argv;
        const char *const *env;
        const char *cwd, *user, *group;
        int as;
        json_object *properties;
        const char *input;
        const char *stdout_key, *stderr_key;
        int64_t output_limit;
        json_object *success_exit;
        uint64_t timeout;
        int kill_signal;
        uint64_t kill_timeout;
        int on_recover;
        /* Of Command. */
        uint64_t interval;
        int unknown;
} SpawnParams;

extern const Param spawn_params[], command_params[];

extern const ParamRule spawn_rules[];
/* The check of the types. */
void spawn_params_check(const Tree *tree, NodeId node, Findings *findings);
/* The number of kill_signal. */
int spawn_params_signal(const SpawnParams *params);

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
