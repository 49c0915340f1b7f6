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
        LIMIT_NODES, /* of a tree, like the next */
        LIMIT_DEPTH,
        LIMIT_VARIABLES,    /* of a run, all together, in KiB */
        LIMIT_JOURNAL,      /* of a run, in KiB */
        LIMIT_HISTORY,      /* runs */
        LIMIT_HISTORY_SIZE, /* MiB */
        LIMIT_HISTORY_AGE,  /* days */
        LIMIT_MAX_,
} Limit;

typedef struct Limits {
        unsigned max[LIMIT_MAX_];
} Limits;

extern const Limits limits_default;

/* "runs=2000". -EINVAL with a text for people. */
int limits_set(Limits *limits, const char *text, char **ret_error);

/* For what is not one manager's, from its nodes to its history: in force in the whole program, the defaults unless
 * others are set when it starts. */
void limits_enforce(const Limits *limits);
unsigned limits_in_force(Limit limit);
/* "8 MiB", of a number of KiB. To be freed. */
char *limit_size_text(unsigned kib);

/* Is the user bound by what there can be for one? */
bool limits_bind(uint32_t uid);
