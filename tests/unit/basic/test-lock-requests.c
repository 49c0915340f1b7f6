/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "basic/locks.h"

static void on_granted(void *userdata) {
        ++*(unsigned *) userdata;
}

/* Of a party that has no others. */
static LockRequest *request(LockParty *party, const char *name, const char *owner, unsigned *grants) {
        return lock_request_new(party, name, &(LockOwner){ .name = owner, .begin = 0, .end = 1 }, on_granted, grants);
}

static void assert_waits(const LockRequest *request, const char *text) {
        g_autofree char *is = lock_request_describe(request);

        g_assert_cmpstr(is, ==, text);
        g_assert_true(lock_request_is_held(request) == !text);
}

static void test_one_at_a_time(void) {
        g_autoptr(Locks) locks = locks_new();
        g_autoptr(LockParty) party = lock_party_new(locks);
        unsigned a = 0, b = 0, c = 0;
        LockRequest *first = request(party, "disk", "boot.3 (Flash)", &a);
        LockRequest *second = request(party, "disk", "backup.1 (Copy)", &b);
        LockRequest *third = request(party, "disk", "boot.4 (Flash)", &c);

        assert_waits(first, NULL);
        assert_waits(second, "the lock 'disk', which boot.3 (Flash) holds");
        assert_waits(third, "the lock 'disk', which boot.3 (Flash) holds, with 1 more before it");
        lock_request_free(first);
        assert_waits(second, NULL);
        assert_waits(third, "the lock 'disk', which backup.1 (Copy) holds");
        g_assert_cmpuint(b, ==, 1);
        lock_request_free(second);
        assert_waits(third, NULL);
        lock_request_free(third);
        g_assert_cmpuint(a, ==, 0);
        g_assert_cmpuint(b, ==, 1);
        g_assert_cmpuint(c, ==, 1);
}

static void test_one_who_waits_no_more(void) {
        g_autoptr(Locks) locks = locks_new();
        g_autoptr(LockParty) party = lock_party_new(locks);
        unsigned a = 0, b = 0, c = 0;
        LockRequest *first = request(party, "disk", "a.1 (A)", &a);
        LockRequest *second = request(party, "disk", "b.1 (B)", &b);
        LockRequest *third = request(party, "disk", "c.1 (C)", &c);

        lock_request_free(second);
        assert_waits(third, "the lock 'disk', which a.1 (A) holds");
        lock_request_free(first);
        g_assert_cmpuint(b, ==, 0);
        g_assert_cmpuint(c, ==, 1);
        lock_request_free(third);
        lock_request_free(NULL);
}

static void test_names_are_apart(void) {
        g_autoptr(Locks) locks = locks_new();
        g_autoptr(LockParty) party = lock_party_new(locks);
        unsigned n = 0;
        LockRequest *disk = request(party, "disk", "a.1 (A)", &n);
        LockRequest *network = request(party, "network", "b.1 (B)", &n);

        assert_waits(disk, NULL);
        assert_waits(network, NULL);
        lock_request_free(disk);
        disk = request(party, "disk", "b.1 (B)", &n);
        assert_waits(disk, NULL);
        lock_request_free(disk);
        lock_request_free(network);
        g_assert_cmpuint(n, ==, 0);
}

/* Parties a, b, ...; what a requests is called like its range: "a.1 (0-9)". */
typedef struct Scene {
        Locks *locks;
        LockParty *parties[8];
        GPtrArray *requests;
} Scene;

static Scene *scene_new(void) {
        Scene *scene = g_new0(Scene, 1);

        scene->locks = locks_new();
        scene->requests = g_ptr_array_new();
        for (unsigned i = 0; i < G_N_ELEMENTS(scene->parties); i++)
                scene->parties[i] = lock_party_new(scene->locks);

        return scene;
}

/* Requests can be freed in any order. */
static void scene_free(Scene *scene) {
        for (unsigned i = 0; i < scene->requests->len; i++)
                lock_request_free(scene->requests->pdata[i]);
        for (unsigned i = 0; i < G_N_ELEMENTS(scene->parties); i++)
                lock_party_free(scene->parties[i]);

        g_ptr_array_unref(scene->requests);
        locks_free(scene->locks);
        g_free(scene);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scene, scene_free)

static LockRequest *scene_request(Scene *scene, unsigned party, uint32_t begin, uint32_t end, const char *name) {
        static unsigned grants;
        g_autofree char *owner = g_strdup_printf("%c.1 (%u-%u)", 'a' + party, begin, end);
        LockRequest *request =
                lock_request_new(scene->parties[party], name, &(LockOwner){ .name = owner, .begin = begin, .end = end },
                                 on_granted, &grants);

        g_ptr_array_add(scene->requests, request);
        return request;
}

static void scene_drop(Scene *scene, LockRequest *request) {
        g_ptr_array_remove(scene->requests, request);
        lock_request_free(request);
}

static void assert_deadlocked(const LockRequest *request, const char *text) {
        assert_waits(request, text);
        g_assert_true(lock_request_is_deadlocked(request));
}

static void assert_only_waits(const LockRequest *request, const char *text) {
        assert_waits(request, text);
        g_assert_false(lock_request_is_deadlocked(request));
}

static void test_deadlock_of_two(void) {
        g_autoptr(Scene) scene = scene_new();
        LockRequest *x, *wants_x, *wants_y;

        x = scene_request(scene, 0, 0, 9, "x");
        scene_request(scene, 1, 0, 9, "y");
        wants_y = scene_request(scene, 0, 3, 4, "y");
        assert_only_waits(wants_y, "the lock 'y', which b.1 (0-9) holds");
        wants_x = scene_request(scene, 1, 5, 6, "x");
        assert_deadlocked(wants_x,
                          "the lock 'x', which a.1 (0-9) holds; a deadlock, because a.1 (3-4) waits for the lock "
                          "'y', which b.1 (0-9) holds");
        assert_deadlocked(wants_y,
                          "the lock 'y', which b.1 (0-9) holds; a deadlock, because b.1 (5-6) waits for the lock "
                          "'x', which a.1 (0-9) holds");

        /* It is over as soon as one of them waits no more. */
        scene_drop(scene, wants_y);
        assert_only_waits(wants_x, "the lock 'x', which a.1 (0-9) holds");
        scene_drop(scene, x);
        assert_waits(wants_x, NULL);
        g_assert_false(lock_request_is_deadlocked(wants_x));
}

/* Who only waits behind others in a queue is in it, too; who waits for what nobody in it holds is not. */
static void test_deadlock_of_many(void) {
        g_autoptr(Scene) scene = scene_new();
        LockRequest *last, *behind, *apart;

        for (unsigned i = 0; i < 7; i++) {
                g_autofree char *name = g_strdup_printf("%u", i);

                scene_request(scene, i, 0, 9, name);
        }
        for (unsigned i = 0; i < 6; i++) {
                g_autofree char *name = g_strdup_printf("%u", i + 1);

                scene_request(scene, i, 1, 2, name);
        }

        apart = scene_request(scene, 7, 0, 9, "0");
        assert_only_waits(apart, "the lock '0', which a.1 (0-9) holds");
        last = scene_request(scene, 6, 1, 2, "0");
        assert_deadlocked(
                last,
                "the lock '0', which a.1 (0-9) holds, with 1 more before it; a deadlock, because a.1 (1-2) waits for "
                "the lock '1', which b.1 (0-9) holds, and b.1 (1-2) waits for the lock '2', which c.1 (0-9) holds, "
                "and c.1 (1-2) waits for the lock '3', which d.1 (0-9) holds, and d.1 (1-2) waits for the lock "
                "'4', which e.1 (0-9) holds, and e.1 (1-2) waits for the lock '5', which f.1 (0-9) holds, and so "
                "on (1 more)");
        behind = scene_request(scene, 2, 3, 4, "0");
        g_assert_true(lock_request_is_deadlocked(behind));
        g_assert_false(lock_request_is_deadlocked(apart));
}

/* What is not done inside of a holder does not keep it. */
static void test_no_deadlock(void) {
        g_autoptr(Scene) scene = scene_new();
        LockRequest *beside, *second;

        scene_request(scene, 0, 0, 5, "x");
        scene_request(scene, 1, 0, 9, "y");
        beside = scene_request(scene, 0, 5, 6, "y");
        second = scene_request(scene, 1, 3, 4, "x");
        assert_only_waits(beside, "the lock 'y', which b.1 (0-9) holds");
        assert_only_waits(second, "the lock 'x', which a.1 (0-5) holds");
}

/* Two branches of one run, and one inside of itself. */
static void test_deadlock_of_one_party(void) {
        g_autoptr(Scene) scene = scene_new();
        LockRequest *inside;

        scene_request(scene, 0, 1, 5, "x");
        scene_request(scene, 0, 5, 9, "y");
        g_assert_false(lock_request_is_deadlocked(scene_request(scene, 0, 2, 3, "y")));
        g_assert_true(lock_request_is_deadlocked(scene_request(scene, 0, 6, 7, "x")));

        scene_request(scene, 1, 0, 9, "z");
        inside = scene_request(scene, 1, 1, 2, "z");
        assert_deadlocked(inside, "the lock 'z', which b.1 (0-9) holds; a deadlock, because that ends only after this");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/lock-requests/one-at-a-time", test_one_at_a_time);
        g_test_add_func("/lock-requests/one-who-waits-no-more", test_one_who_waits_no_more);
        g_test_add_func("/lock-requests/names-are-apart", test_names_are_apart);
        g_test_add_func("/lock-requests/deadlock-of-two", test_deadlock_of_two);
        g_test_add_func("/lock-requests/deadlock-of-many", test_deadlock_of_many);
        g_test_add_func("/lock-requests/no-deadlock", test_no_deadlock);
        g_test_add_func("/lock-requests/deadlock-of-one-party", test_deadlock_of_one_party);
        return g_test_run();
}
