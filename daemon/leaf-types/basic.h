/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Declares the parameters of Condition, PathExists, Log, Script, Sleep and AlwaysFailure. */

#include <stdint.h>

#include "engine/type.h"

typedef struct ConditionParams {
        const Script *test;
} ConditionParams;

typedef struct LogParams {
        const char *message;
        int level; /* index of a name */
} LogParams;

/* The level as in syslog(3). */
int log_params_level(const LogParams *params);

typedef struct ScriptParams {
        const Script *code;
} ScriptParams;

typedef struct AlwaysFailureParams {
        const char *message;
} AlwaysFailureParams;

typedef struct SleepParams {
        uint64_t duration;
} SleepParams;

typedef enum PathKind {
        PATH_KIND_ANY,
        PATH_KIND_FILE,
        PATH_KIND_DIRECTORY,
        PATH_KIND_NOT_EMPTY,
} PathKind;

typedef struct PathExistsParams {
        const char *path;
        int kind, unknown;
} PathExistsParams;

/* The names of a PathKind, NULL-terminated. */
extern const char *const path_kind_names[];
