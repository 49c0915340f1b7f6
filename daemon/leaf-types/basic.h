/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the parameters of Condition, Log, Script and Sleep. */

#include <stdint.h>

#include "engine/type.h"

typedef struct ConditionParams {
        const Script *test;
} ConditionParams;

typedef struct LogParams {
        const char *message;
        int level;
} LogParams;

typedef struct ScriptParams {
        const Script *code;
} ScriptParams;

typedef struct SleepParams {
        uint64_t duration;
} SleepParams;

/* The names of LogParams.level, which is one of syslog(3); NULL-terminated. */
extern const char *const log_level_names[];
