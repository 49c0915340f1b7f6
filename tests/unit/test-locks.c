/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/locks.h"

static void on_granted(void *userdata) {
        ++*(unsigned *) userdata;
}

static LockClaim *claim(Locks *locks, const char *name, const char *owner, unsigned *grants) {
        return lock_claim_new(locks, name, owner, on_granted, grants);
}

static void assert_waits(const LockClaim *claim, const char *text) {
        g_autofree char *is = lock_claim_describe(claim);

        g_assert_cmpstr(is, ==, text);
        g_assert_true(lock_claim_is_held(claim) == !text);
}

static void test_one_at_a_time(void) {
        g_autoptr(Locks) locks = locks_new();
        unsigned a = 0, b = 0, c = 0;
        LockClaim *first = claim(locks, "disk", "boot.3 (Flash)", &a);
        LockClaim *second = claim(locks, "disk", "backup.1 (Copy)", &b);
        LockClaim *third = claim(locks, "disk", "boot.4 (Flash)", &c);

        assert_waits(first, NULL);
        assert_waits(second, "the lock 'disk', which boot.3 (Flash) holds");
        assert_waits(third, "the lock 'disk', which boot.3 (Flash) holds, with 1 more before it");
        lock_claim_free(first);
        assert_waits(second, NULL);
        assert_waits(third, "the lock 'disk', which backup.1 (Copy) holds");
        g_assert_cmpuint(b, ==, 1);
        lock_claim_free(second);
        assert_waits(third, NULL);
        lock_claim_free(third);
        g_assert_cmpuint(a, ==, 0);
        g_assert_cmpuint(b, ==, 1);
        g_assert_cmpuint(c, ==, 1);
}

static void test_one_who_waits_no_more(void) {
        g_autoptr(Locks) locks = locks_new();
        unsigned a = 0, b = 0, c = 0;
        LockClaim *first = claim(locks, "disk", "a.1 (A)", &a);
        LockClaim *second = claim(locks, "disk", "b.1 (B)", &b);
        LockClaim *third = claim(locks, "disk", "c.1 (C)", &c);

        lock_claim_free(second);
        assert_waits(third, "the lock 'disk', which a.1 (A) holds");
        lock_claim_free(first);
        g_assert_cmpuint(b, ==, 0);
        g_assert_cmpuint(c, ==, 1);
        lock_claim_free(third);
        lock_claim_free(NULL);
}

static void test_names_are_apart(void) {
        g_autoptr(Locks) locks = locks_new();
        unsigned n = 0;
        LockClaim *disk = claim(locks, "disk", "a.1 (A)", &n);
        LockClaim *network = claim(locks, "network", "b.1 (B)", &n);

        assert_waits(disk, NULL);
        assert_waits(network, NULL);
        lock_claim_free(disk);
        disk = claim(locks, "disk", "b.1 (B)", &n);
        assert_waits(disk, NULL);
        lock_claim_free(disk);
        lock_claim_free(network);
        g_assert_cmpuint(n, ==, 0);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/locks/one-at-a-time", test_one_at_a_time);
        g_test_add_func("/locks/one-who-waits-no-more", test_one_who_waits_no_more);
        g_test_add_func("/locks/names-are-apart", test_names_are_apart);
        return g_test_run();
}
