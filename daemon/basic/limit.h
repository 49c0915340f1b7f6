/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * How much there can be of what others ask for, and how much of that for one of them: see LIMITS in btd(8). A caller is
 * a user, and root and the user of the daemon, who may do everything, are bound only by what there can be in all.
 */

#include <stdbool.h>
#include <stdint.h>

typedef enum Limit {
        LIMIT_TREES,
        LIMIT_RUNS,
        LIMIT_RUNS_OF_A_CALLER,
        LIMIT_CALLS_OF_A_CALLER, /* that wait to be answered */
        LIMIT_SUBSCRIBERS,
        LIMIT_SUBSCRIBERS_OF_A_CALLER,
        LIMIT_MAX_,
} Limit;

typedef struct Limits {
        unsigned max[LIMIT_MAX_];
} Limits;

extern const Limits limits_default;

/* "runs=2000". -EINVAL with a text for people. */
int limits_set(Limits *limits, const char *text, char **ret_error);

/* Is the user bound by what there can be for one? */
bool limits_bind(uint32_t uid);
