/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Defines the limits of what clients can request and of what trees can contain: see LIMITS in btd(8). The manager owns
 * those of a btd, and btctl uses the defaults. A caller is a user. Limits per caller do not apply to root and to btd's
 * own user, which may do everything anyway.
 */

#include <stdbool.h>
#include <stdint.h>

typedef enum Limit {
        LIMIT_TREES,
        LIMIT_RUNS,
        LIMIT_RUNS_OF_A_CALLER,
        LIMIT_VARIABLES_OF_A_CALLER, /* of all its runs, MiB */
        LIMIT_RECORDS_OF_A_CALLER,   /* run records of these, MiB */
        LIMIT_JOBS_OF_A_CALLER,      /* requests to start or stop units, at the same time */
        LIMIT_CALLS_OF_A_CALLER,     /* pending method calls */
        LIMIT_SUBSCRIBERS,
        LIMIT_SUBSCRIBERS_OF_A_CALLER,
        LIMIT_NODES, /* of a tree */
        LIMIT_DEPTH,
        LIMIT_VARIABLES,    /* of a run, in total, KiB */
        LIMIT_RECORD,       /* run record of a run, KiB */
        LIMIT_HISTORY,      /* runs */
        LIMIT_HISTORY_SIZE, /* MiB */
        LIMIT_HISTORY_AGE,  /* days */
        LIMIT_TOKENS,       /* of finished runs */
        LIMIT_TOKEN_AGE,    /* days */
        LIMIT_MAX_,
} Limit;

typedef struct Limits {
        unsigned max[LIMIT_MAX_];
} Limits;

extern const Limits limits_default;

/* Parses an assignment like "runs=2000". -EINVAL: the text is invalid, and ret_error gets a message. */
int limits_set(Limits *limits, const char *text, char **ret_error);

/* Formats a number of KiB, for example "8 MiB". The caller frees it. */
char *limit_size_text(unsigned kib);

/* Do the limits per caller apply to this user? */
bool limits_bind(uint32_t uid);
