/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the parameters of Spawn and Command. */

#include <json-c/json_object.h>

#include "engine/type.h"

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

/* The number of kill_signal. */
int spawn_params_signal(const SpawnParams *params);
