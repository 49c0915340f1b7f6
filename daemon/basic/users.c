/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements the table of users. They are never forgotten: only those who ask btd for something have an entry. */

#include <assert.h>
#include <inttypes.h>

#include "basic/users.h"

#define MIB (UINT64_C(1) << 20)

/* A dbus-daemon takes no more than 127 MiB of btd that others have not read. */
#define UNREAD_MAX (32 * MIB)
/* A quarter of what all have. */
#define KEPT_MAX (4 * MIB)

struct Users {
        const Limits *limits;
        GHashTable *by_uid; /* UID -> User */
};

const char *const use_names[] = {
        [USE_RUNS] = "runs",
        [USE_VARIABLES] = "variables-bytes",
        [USE_RECORDS] = "records-bytes",
        [USE_JOBS] = "unit-jobs",
        [USE_UNREAD] = "unread-bytes",
        [USE_HISTORY] = "history",
        [USE_HISTORY_BYTES] = "history-bytes",
        [USE_KEPT] = "kept-bytes",
        [USE_MAX_] = NULL,
};

Users *users_new(const Limits *limits) {
        Users *users = g_new(Users, 1);

        *users = (Users){ .limits = limits, .by_uid = g_hash_table_new_full(NULL, NULL, NULL, g_free) };
        return users;
}

void users_free(Users *users) {
        if (!users)
                return;

        g_hash_table_unref(users->by_uid);
        g_free(users);
}

User *users_get(Users *users, uint32_t uid) {
        User *user = users ? g_hash_table_lookup(users->by_uid, GUINT_TO_POINTER(uid)) : NULL;

        if (users && !user) {
                user = g_new(User, 1);
                *user = (User){ .uid = uid, .limits = users->limits };
                g_hash_table_insert(users->by_uid, GUINT_TO_POINTER(uid), user);
        }
        return user;
}

static int compare_uids(const void *a, const void *b) {
        const User *const *x = a, *const *y = b;

        return ((*x)->uid > (*y)->uid) - ((*x)->uid < (*y)->uid);
}

GPtrArray *users_list(const Users *users) {
        GPtrArray *list = g_ptr_array_new();
        GHashTableIter iter;
        void *user;

        g_hash_table_iter_init(&iter, users->by_uid);
        while (g_hash_table_iter_next(&iter, NULL, &user))
                g_ptr_array_add(list, user);
        g_ptr_array_sort(list, compare_uids);
        return list;
}

/* A user gets a quarter of the history. */
uint64_t user_share(const User *user, Usage use) {
        const unsigned *max = user ? user->limits->max : NULL;

        if (!user || !limits_bind(user->uid))
                return UINT64_MAX;

        switch (use) {
        case USE_RUNS:
                return max[LIMIT_RUNS_OF_A_CALLER];
        case USE_VARIABLES:
                return max[LIMIT_VARIABLES_OF_A_CALLER] * MIB;
        case USE_RECORDS:
                return max[LIMIT_RECORDS_OF_A_CALLER] * MIB;
        case USE_JOBS:
                return max[LIMIT_JOBS_OF_A_CALLER];
        case USE_UNREAD:
                return UNREAD_MAX;
        case USE_HISTORY:
                return max[LIMIT_HISTORY] / 4;
        case USE_HISTORY_BYTES:
                return max[LIMIT_HISTORY_SIZE] * MIB / 4;
        case USE_KEPT:
                return KEPT_MAX;
        default:
                g_assert_not_reached();
        }
}

bool user_has_room(const User *user, Usage use, uint64_t more) {
        uint64_t share = user_share(user, use);

        return !user || share == UINT64_MAX || (user->used[use] <= share && more <= share - user->used[use]);
}

void user_add(User *user, Usage use, uint64_t more) {
        if (user)
                user->used[use] += more;
}

void user_subtract(User *user, Usage use, uint64_t less) {
        assert(!user || user->used[use] >= less);

        if (user)
                user->used[use] -= less;
}

char *user_full_text(const User *user, Usage use) {
        return g_strdup_printf("the limit '%s' (%" PRIu64 " MiB) is reached; halt one of your runs first",
                               use == USE_VARIABLES ? "variables-of-a-caller-mib" : "records-of-a-caller-mib",
                               user_share(user, use) / MIB);
}
