/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests lookups of users and groups with a slow name service: only the caller waits for the answer. */

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <string.h>

#include "service/credentials.h"

/* The name service: it answers while this is not locked. */
static pthread_mutex_t service = PTHREAD_MUTEX_INITIALIZER;
static int n_asked; /* atomic */

/* In place of those of the C library. */
int getpwnam_r(const char *name, struct passwd *passwd, char *buffer, size_t size, struct passwd **ret_found) {
        g_atomic_int_inc(&n_asked);
        pthread_mutex_lock(&service);
        pthread_mutex_unlock(&service);
        *passwd = (struct passwd){ .pw_uid = 1000 };
        *ret_found = g_str_equal(name, "ann") ? passwd : NULL;
        return 0;
}

int getgrnam_r(const char *name, struct group *group, char *buffer, size_t size, struct group **ret_found) {
        g_atomic_int_inc(&n_asked);
        if (g_str_equal(name, "many") && size < 200000)
                return ERANGE;

        *group = (struct group){ .gr_gid = UINT32_MAX - 1 };
        *ret_found = g_str_equal(name, "bob") ? NULL : group;
        return *ret_found ? 0 : ENOENT;
}

static void on_known(void *userdata) {
        ++*(unsigned *) userdata;
}

static void assert_id(Accounts *accounts, const char *name, int64_t expected) {
        int64_t id = 0;

        g_assert_true(accounts_find(accounts, name, &id));
        g_assert_cmpint(id, ==, expected);
}

static void ask_for_all(Accounts *accounts) {
        int64_t id;

        g_assert_false(accounts_find(accounts, "ann", &id));
        g_assert_false(accounts_find(accounts, "@ann", &id));
        g_assert_false(accounts_find(accounts, "ann", &id));
        g_assert_false(accounts_find(accounts, "bob", &id));
        g_assert_false(accounts_find(accounts, "@bob", &id));
}

static void test_looked_up_beside(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Workers) workers = workers_new(context, 1);
        g_autoptr(Accounts) accounts = accounts_new();
        unsigned n_known = 0;

        g_atomic_int_set(&n_asked, 0);
        pthread_mutex_lock(&service);
        ask_for_all(accounts);
        g_assert_false(accounts_are_looked_up(accounts));
        accounts_look_up(accounts, workers, on_known, &n_known);
        while (g_atomic_int_get(&n_asked) == 0)
                g_main_context_iteration(context, FALSE);

        /* It hangs. */
        ask_for_all(accounts);
        g_assert_true(accounts_are_looked_up(accounts));
        g_assert_cmpuint(n_known, ==, 0);

        pthread_mutex_unlock(&service);
        while (n_known == 0)
                g_main_context_iteration(context, TRUE);
        g_assert_false(accounts_are_looked_up(accounts));
        g_assert_cmpint(g_atomic_int_get(&n_asked), ==, 4);
        assert_id(accounts, "ann", 1000);
        assert_id(accounts, "@ann", UINT32_MAX - 1);
        assert_id(accounts, "bob", ACCOUNTS_NONE);
        assert_id(accounts, "@bob", ACCOUNTS_NONE);
        accounts_free(NULL);
}

/* Whoever has asked goes in the meantime. */
static void test_forgotten(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Workers) workers = workers_new(context, 1);
        Accounts *gone = accounts_new();
        g_autoptr(Accounts) other = accounts_new();
        unsigned n_known = 0, n_never = 0;

        g_atomic_int_set(&n_asked, 0);
        pthread_mutex_lock(&service);
        ask_for_all(gone);
        accounts_look_up(gone, workers, on_known, &n_never);
        while (g_atomic_int_get(&n_asked) == 0)
                g_main_context_iteration(context, FALSE);
        accounts_free(gone);
        ask_for_all(other);
        accounts_look_up(other, workers, on_known, &n_known);
        pthread_mutex_unlock(&service);
        while (n_known == 0)
                g_main_context_iteration(context, TRUE);
        g_assert_cmpuint(n_never, ==, 0);
        assert_id(other, "ann", 1000);
}

static void test_group_with_many_members(void) {
        g_autoptr(GMainContext) context = g_main_context_new();
        g_autoptr(Workers) workers = workers_new(context, 1);
        g_autoptr(Accounts) accounts = accounts_new();
        unsigned n_known = 0;
        int64_t id;

        g_assert_false(accounts_find(accounts, "@many", &id));
        accounts_look_up(accounts, workers, on_known, &n_known);
        while (n_known == 0)
                g_main_context_iteration(context, TRUE);
        assert_id(accounts, "@many", UINT32_MAX - 1);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);

        g_test_add_func("/accounts/looked-up-beside", test_looked_up_beside);
        g_test_add_func("/accounts/forgotten", test_forgotten);
        g_test_add_func("/accounts/group-with-many-members", test_group_with_many_members);

        return g_test_run();
}
