/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Knows the users, what each of them uses, and how much each may use: see LIMITS in btd(8). Whoever uses something for
 * a user counts it here; whoever is about to use more asks here first. The shares do not apply to root and to btd's own
 * user, but what they use is counted, too.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "basic/limit.h"

typedef enum Usage {
        USE_RUNS,          /* that have not finished */
        USE_VARIABLES,     /* of these runs, bytes */
        USE_RECORDS,       /* run records of these runs, bytes */
        USE_JOBS,          /* requests to start or stop units, at the same time */
        USE_UNREAD,        /* long answers that were sent, bytes */
        USE_HISTORY,       /* finished runs */
        USE_HISTORY_BYTES, /* their run records */
        USE_KEPT,          /* kept variables, bytes */
        USE_MAX_,
} Usage;

/* "runs", "history-bytes" */
extern const char *const use_names[];

typedef struct User {
        uint32_t uid;
        const Limits *limits;
        uint64_t used[USE_MAX_];
        uint64_t refused; /* requests, since btd was started */
        /* The refusals that were logged since a time (monotonic, microseconds), and those that were not. */
        int64_t logging_since;
        unsigned n_logged, n_unlogged;
        unsigned n_permitted, n_untold; /* the same for requests that were permitted */
} User;

typedef struct Users Users;

/* The limits are borrowed. */
Users *users_new(const Limits *limits);
void users_free(Users *users);

/* The user, who is known from then on, and stays in place. users NULL: NULL. */
User *users_get(Users *users, uint32_t uid);
/* All that are known, by their UIDs. The caller unreferences the array. */
GPtrArray *users_list(const Users *users);

/* The share of the user; UINT64_MAX: there is none. */
uint64_t user_share(const User *user, Usage use);
/* May the user use so much more? The functions accept NULL for a user that does not count. */
bool user_has_room(const User *user, Usage use, uint64_t more);
void user_add(User *user, Usage use, uint64_t more);
void user_subtract(User *user, Usage use, uint64_t less);

/* For USE_VARIABLES and USE_RECORDS: the share is used up; to be freed. */
char *user_full_text(const User *user, Usage use);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Users, users_free)
