/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the locks of nodes: when they are acquired, and every way in which they are released. */

#include "stage.h"

static void test_lock(void) {
        PLAY("a[lock]", { "start", "lock a, start a", STATUS_RUNNING }, { "a success", "unlock a", STATUS_SUCCESS });
        PLAY("a+[lock]", { "start", "lock a, start a, unlock a", STATUS_SUCCESS });
        PLAY("Sequence(a[lock], b)", { "a busy, start", "lock a", STATUS_RUNNING }, { "nothing", "", STATUS_RUNNING },
             { "a granted", "start a", STATUS_RUNNING }, { "a failure", "unlock a", STATUS_FAILURE });
        PLAY("Sequence:s[lock hooks](a, b)", { "s busy, start", "lock s", STATUS_RUNNING },
             { "s granted", "start a", STATUS_RUNNING },
             { "a failure", "on_failure s, always s, unlock s", STATUS_FAILURE });
        PLAY("c?[lock]", { "c busy, start", "lock c", STATUS_RUNNING }, { "c granted", "", STATUS_RUNNING },
             { "c success", "unlock c, release c", STATUS_SUCCESS });
}

/* Let go when the node has really ended; who waits no longer has nothing to stop. */
static void test_lock_and_halt(void) {
        PLAY("a![lock]", { "start", "lock a, start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_RUNNING },
             { "a success", "unlock a", STATUS_HALTED });
        PLAY("Sequence:s[lock](Parallel(a!, b))", { "start", "lock s, start a, start b", STATUS_RUNNING },
             { "halt", "halt a, halt b", STATUS_RUNNING }, { "a success", "unlock s", STATUS_HALTED });
        PLAY("Finally:f[lock](a, b)", { "start", "lock f, start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b success", "unlock f", STATUS_HALTED });
        PLAY("Sequence:s[lock hooks](a)", { "s busy, start", "lock s", STATUS_RUNNING },
             { "halt", "unlock s", STATUS_HALTED });
        PLAY("a[lock]", { "a busy, start", "lock a", STATUS_RUNNING }, { "halt", "unlock a", STATUS_HALTED });
        PLAY("c?[lock]", { "c busy, start", "lock c", STATUS_RUNNING }, { "halt", "unlock c", STATUS_HALTED });
        /* Granted, but halted before the tick. */
        PLAY("a[lock]", { "a busy, start", "lock a", STATUS_RUNNING },
             { "a granted, halt", "unlock a", STATUS_HALTED });
        PLAY("Timeout{timeout=5}(a[lock])", { "a busy, start", "arm 5 Timeout, lock a", STATUS_RUNNING },
             { "time", "unlock a", STATUS_FAILURE });
        PLAY("Sequence(a*[lock], b)", { "start", "lock a, start a, unlock a", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
}

/* They are looked at before it waits, and while it does. */
static void test_lock_and_guards(void) {
        PLAY("a[lock guards]", { "a skip_if yes, start", "", STATUS_SKIPPED });
        PLAY("a[lock guards]", { "a busy, start", "lock a", STATUS_RUNNING },
             { "a fail_if yes, variable", "unlock a", STATUS_FAILURE });
        PLAY("Sequence:s[lock guards](a)", { "s busy, start", "lock s", STATUS_RUNNING },
             { "s while no, variable", "unlock s", STATUS_SKIPPED });
        PLAY("c?[lock guards]", { "c busy, start", "lock c", STATUS_RUNNING },
             { "c success_if yes, variable", "unlock c", STATUS_SUCCESS });
}

/* Only what may start asks for its lock. */
static void test_lock_after_what_it_replaces(void) {
        PLAY("ReactiveFallback(Sequence(c?, a[lock]), b!)", { "start, c failure", "start b", STATUS_RUNNING },
             { "c success", "halt b", STATUS_RUNNING }, { "b success", "lock a, start a", STATUS_RUNNING },
             { "a success", "unlock a, release c", STATUS_SUCCESS });
        PLAY("ReactiveFallback(Sequence(c?, Sequence:s[lock](a)), b)",
             { "start, c failure", "start b", STATUS_RUNNING },
             { "c success", "halt b, lock s, start a", STATUS_RUNNING },
             { "a success", "unlock s, release c", STATUS_SUCCESS });
        PLAY("WhileDoElse(c?, a![lock], b)", { "start, c success", "lock a, start a", STATUS_RUNNING },
             { "c failure", "halt a", STATUS_RUNNING }, { "c success", "", STATUS_RUNNING },
             { "a success", "unlock a, lock a, start a", STATUS_RUNNING },
             { "a success", "unlock a, release c", STATUS_SUCCESS });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/locks/lock", test_lock);
        g_test_add_func("/locks/lock-and-halt", test_lock_and_halt);
        g_test_add_func("/locks/lock-and-guards", test_lock_and_guards);
        g_test_add_func("/locks/lock-after-what-it-replaces", test_lock_after_what_it_replaces);
        return g_test_run();
}
