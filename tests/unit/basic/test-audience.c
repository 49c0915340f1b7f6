/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests which observers are called when observers are added and removed during a call. */

#include "basic/audience.h"

typedef struct Person Person;

struct Person {
        Follower follower;
        const char *name;
        Audience *audience;
        Person *leaves, *joins; /* what it does when it is told */
};

static GString *told;

static void on_changed(void *userdata) {
        Person *person = userdata;

        g_assert_false(audience_is_unused(person->audience));
        g_string_append(told, person->name);
        if (person->leaves)
                audience_leave(person->audience, &person->leaves->follower);
        if (person->joins)
                audience_join(person->audience, &person->joins->follower);
        person->leaves = person->joins = NULL;
}

static void join(Person *person, const char *name, Audience *audience) {
        *person = (Person){ .follower = { .changed = on_changed, .userdata = person },
                            .name = name,
                            .audience = audience };
        audience_join(audience, &person->follower);
}

static void assert_told(Audience *audience, const char *names) {
        g_string_truncate(told, 0);
        audience_tell(audience);
        g_assert_cmpstr(told->str, ==, names);
}

static void test_leaving(void) {
        Audience audience = {};
        Person a, b, c;

        join(&a, "a", &audience);
        join(&b, "b", &audience);
        join(&c, "c", &audience);
        assert_told(&audience, "abc");

        a.leaves = &b;
        assert_told(&audience, "ac");
        c.leaves = &a;
        assert_told(&audience, "ac");
        c.leaves = &c;
        g_assert_false(audience_is_unused(&audience));
        assert_told(&audience, "c");
        g_assert_true(audience_is_unused(&audience));
        assert_told(&audience, "");
}

static void test_joining(void) {
        Audience audience = {};
        Person a, b;

        join(&a, "a", &audience);
        join(&b, "b", &audience);
        audience_leave(&audience, &b.follower);
        a.joins = &b;
        assert_told(&audience, "a");
        assert_told(&audience, "ab");
}

int main(int argc, char **argv) {
        int r;

        g_test_init(&argc, &argv, NULL);
        told = g_string_new(NULL);

        g_test_add_func("/audience/leaving", test_leaving);
        g_test_add_func("/audience/joining", test_joining);

        r = g_test_run();
        g_string_free(told, true);
        return r;
}
