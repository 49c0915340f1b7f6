/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests who gets a permit for the jobs of a unit, and when. */

#include "basic/users.h"
#include "leaves/unit/systemd-job.h"

#define SOMEBODY 70000u

typedef struct Party {
        JobPermit permit;
        bool acquired;
} Party;

static void on_granted(void *userdata) {
        Party *party = userdata;

        party->acquired = true;
}

static void acquire(Party *party, Connection *connection, const char *unit, User *user) {
        party->acquired = job_permit_acquire(&party->permit, connection, unit, user, on_granted, party);
}

static void settle(void) {
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

/* Another systemd has permits of its own: nothing there would tell this one that there is room again. */
static void test_share_of_one_systemd(void) {
        Limits limits = limits_default;
        g_autoptr(Users) users = users_new(&limits);
        g_autoptr(Connection) here = connection_new(NULL, "here", "unix:path=/nowhere"),
                              there = connection_new(NULL, "there", "unix:path=/nowhere");
        User *user = users_get(users, SOMEBODY);
        Party first = {}, second = {}, other = {};

        limits.max[LIMIT_JOBS_OF_A_CALLER] = 1;
        acquire(&first, here, "a.service", user);
        acquire(&second, here, "b.service", user);
        acquire(&other, there, "a.service", user);
        settle();
        g_assert_true(first.acquired && !second.acquired && other.acquired);

        job_permit_release(&first.permit);
        settle();
        g_assert_true(second.acquired);
        job_permit_release(&second.permit);
        job_permit_release(&other.permit);
        g_assert_cmpuint(user->used[USE_JOBS], ==, 0);
}

/* Root comes before a user who has waited for longer; those who use the same unit need no room. */
static void test_order(void) {
        Limits limits = limits_default;
        g_autoptr(Users) users = users_new(&limits);
        g_autoptr(Connection) connection = connection_new(NULL, "here", "unix:path=/nowhere");
        Party all[100] = {}, user = {}, root = {}, same = {};

        for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
                g_autofree char *unit = g_strdup_printf("%u.service", i);

                acquire(&all[i], connection, unit, users_get(users, 0));
                g_assert_true(all[i].acquired);
        }
        acquire(&user, connection, "user.service", users_get(users, SOMEBODY));
        acquire(&root, connection, "root.service", users_get(users, 0));
        acquire(&same, connection, "1.service", users_get(users, SOMEBODY));
        settle();
        g_assert_true(!user.acquired && !root.acquired && same.acquired);

        job_permit_release(&all[0].permit);
        settle();
        g_assert_true(!user.acquired && root.acquired);
        job_permit_release(&root.permit);
        settle();
        g_assert_true(user.acquired);

        job_permit_release(&user.permit);
        job_permit_release(&same.permit);
        for (unsigned i = 1; i < G_N_ELEMENTS(all); i++)
                job_permit_release(&all[i].permit);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/job-permits/share-of-one-systemd", test_share_of_one_systemd);
        g_test_add_func("/job-permits/order", test_order);
        return g_test_run();
}
