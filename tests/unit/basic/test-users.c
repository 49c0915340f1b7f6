/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the shares of users. */

#include <unistd.h>

#include "basic/users.h"

#define MIB (UINT64_C(1) << 20)
#define SOMEBODY 70000u

static void assert_full(const User *user, Usage use, const char *expected) {
        g_autofree char *text = user_full_text(user, use);

        g_assert_cmpstr(text, ==, expected);
}

static void test_share(void) {
        g_autoptr(Users) users = users_new(&limits_default);
        User *user = users_get(users, SOMEBODY);

        g_assert_true(user == users_get(users, SOMEBODY));
        g_assert_true(user_has_room(user, USE_VARIABLES, 64 * MIB));
        g_assert_false(user_has_room(user, USE_VARIABLES, 64 * MIB + 1));
        user_add(user, USE_VARIABLES, 60 * MIB);
        g_assert_true(user_has_room(user, USE_VARIABLES, 4 * MIB));
        g_assert_false(user_has_room(user, USE_VARIABLES, 4 * MIB + 1));
        g_assert_false(user_has_room(user, USE_VARIABLES, UINT64_MAX));
        g_assert_true(user_has_room(user, USE_RECORDS, 64 * MIB));
        user_subtract(user, USE_VARIABLES, 60 * MIB);
        g_assert_true(user_has_room(user, USE_VARIABLES, 64 * MIB));
        assert_full(user, USE_VARIABLES,
                    "the limit 'variables-of-a-caller-mib' (64 MiB) is reached; halt one of your runs first");
        assert_full(user, USE_RECORDS,
                    "the limit 'records-of-a-caller-mib' (256 MiB) is reached; halt one of your runs first");
}

/* What root and btd's own user use is counted, but they have no share. */
static void test_trusted(void) {
        g_autoptr(Users) users = users_new(&limits_default);
        const uint32_t uids[] = { 0, geteuid() };

        for (size_t i = 0; i < G_N_ELEMENTS(uids); i++) {
                User *user = users_get(users, uids[i]);

                user_add(user, USE_JOBS, 1000);
                g_assert_true(user_has_room(user, USE_JOBS, UINT64_MAX));
        }
        g_assert_cmpuint(users_get(users, 0)->used[USE_JOBS], >=, 1000);
}

static void test_nobody(void) {
        g_assert_null(users_get(NULL, SOMEBODY));
        user_add(NULL, USE_JOBS, 1);
        user_subtract(NULL, USE_JOBS, 1);
        g_assert_true(user_has_room(NULL, USE_JOBS, 1));
}

static void test_list(void) {
        g_autoptr(Users) users = users_new(&limits_default);
        g_autoptr(GPtrArray) list = NULL;

        (void) users_get(users, SOMEBODY);
        (void) users_get(users, 0);
        (void) users_get(users, 1000);
        list = users_list(users);
        g_assert_cmpuint(list->len, ==, 3);
        g_assert_cmpuint(((User *) list->pdata[1])->uid, ==, 1000);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/users/share", test_share);
        g_test_add_func("/users/trusted", test_trusted);
        g_test_add_func("/users/nobody", test_nobody);
        g_test_add_func("/users/list", test_list);
        return g_test_run();
}
