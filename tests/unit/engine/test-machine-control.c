/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests forced outcomes, breakpoints, and the end of a machine by an error. */

#include "stage.h"

/* What runs is halted, which is waited for. */
static void test_force_running(void) {
        PLAY("Sequence(a, b)", { "start", "start a", STATUS_RUNNING },
             { "a forced success", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence(a!, b)", { "start", "start a", STATUS_RUNNING },
             { "a forced success", "halt a", STATUS_RUNNING }, { "a failure", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Fallback(Parallel:p(a, b), c)", { "start", "start a, start b", STATUS_RUNNING },
             { "p forced failure", "halt a, halt b, start c", STATUS_RUNNING }, { "c success", "", STATUS_SUCCESS });
        PLAY("Sequence:s(a, b)", { "start", "start a", STATUS_RUNNING },
             { "s forced skipped", "halt a", STATUS_SKIPPED });
        PLAY("ForceFailure(c?)", { "start", "", STATUS_RUNNING }, { "c forced success", "release c", STATUS_FAILURE });
}

/* It has the outcome once, when it would start. */
static void test_force_idle(void) {
        PLAY("Sequence(a, b, c)", { "start", "start a", STATUS_RUNNING }, { "b forced success", "", STATUS_RUNNING },
             { "a success", "start c", STATUS_RUNNING }, { "c success", "", STATUS_SUCCESS });
        PLAY("Repeat{num_cycles=2}(Sequence(a, b))", { "start", "start a", STATUS_RUNNING },
             { "b forced success", "", STATUS_RUNNING }, { "a success", "start a", STATUS_RUNNING },
             { "a success", "start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        /* The last word stands. */
        PLAY("Sequence(a, b)", { "b forced success, b forced failure, start", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_FAILURE });
        PLAY("ReactiveSequence(c?, a)", { "start", "", STATUS_RUNNING }, { "c success", "start a", STATUS_RUNNING },
             { "c forced failure", "halt a, release c", STATUS_FAILURE });
}

/* They say what was forced. */
static void test_force_and_hooks(void) {
        PLAY("Sequence(a[hooks lock], b)", { "start", "lock a, start a", STATUS_RUNNING },
             { "a forced success", "halt a, unlock a, on_success a, always a, start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence(a![hooks lock], b)", { "start", "lock a, start a", STATUS_RUNNING },
             { "a forced failure", "halt a", STATUS_RUNNING },
             { "a success", "unlock a, on_failure a, always a", STATUS_FAILURE });
        PLAY("Sequence(a[hooks lock], b)", { "a busy, start", "lock a", STATUS_RUNNING },
             { "a forced success", "unlock a, on_success a, always a, start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence:s[uninterruptible hooks](a, b)", { "start", "start a", STATUS_RUNNING },
             { "s forced success", "", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b failure", "on_success s, always s", STATUS_SUCCESS });
        /* What is forced can be halted itself. */
        PLAY("a![hooks]", { "start", "start a", STATUS_RUNNING }, { "a forced success", "halt a", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "a success", "on_halted a, always a", STATUS_HALTED });
}

/* A result that is waiting is replaced. */
static void test_force_what_waits(void) {
        PLAY("Timeout{timeout=5}(a!)", { "start", "arm 5 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a", STATUS_RUNNING }, { "Timeout forced success", "", STATUS_RUNNING },
             { "a success", "", STATUS_SUCCESS });
        PLAY("Finally(a, Sequence(b, c))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b forced success", "halt b, start c", STATUS_RUNNING },
             { "c success", "", STATUS_HALTED });
}

static void test_breakpoint(void) {
        PLAY("Sequence(a, b)", { "b break, start", "start a", STATUS_RUNNING },
             { "a success", "stop b", STATUS_RUNNING }, { "nothing", "", STATUS_RUNNING },
             { "b pass", "start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence:s(a, b)", { "s break, start", "stop s", STATUS_RUNNING },
             { "s pass", "start a", STATUS_RUNNING }, { "a failure", "", STATUS_FAILURE });
        PLAY("Sequence(a, c?)", { "c break, start", "start a", STATUS_RUNNING },
             { "a success", "stop c", STATUS_RUNNING }, { "c pass", "", STATUS_RUNNING },
             { "c success", "release c", STATUS_SUCCESS });
        /* Each time that it would start. */
        PLAY("Repeat{num_cycles=2}(a)", { "a break, start", "stop a", STATUS_RUNNING },
             { "a pass", "start a", STATUS_RUNNING }, { "a success", "stop a", STATUS_RUNNING },
             { "a pass", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        PLAY("Repeat{num_cycles=2}(a)", { "a break, start", "stop a", STATUS_RUNNING },
             { "a unbreak, a pass", "start a", STATUS_RUNNING }, { "a success", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_SUCCESS });
        PLAY("Parallel(a, b)", { "a break, start", "stop a, start b", STATUS_RUNNING },
             { "b success", "", STATUS_RUNNING }, { "a pass", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_SUCCESS });
}

static void test_breakpoint_and_others(void) {
        /* The lock is asked for behind it. */
        PLAY("a[lock]", { "a break, start", "stop a", STATUS_RUNNING }, { "a busy, a pass", "lock a", STATUS_RUNNING },
             { "a granted", "start a", STATUS_RUNNING }, { "a success", "unlock a", STATUS_SUCCESS });
        PLAY("a[guards]", { "a break, start", "stop a", STATUS_RUNNING },
             { "a skip_if yes, variable", "", STATUS_SKIPPED });
        PLAY("a[hooks]", { "a break, start", "stop a", STATUS_RUNNING }, { "halt", "", STATUS_HALTED });
        PLAY("a", { "a break, start", "stop a", STATUS_RUNNING }, { "a forced success", "", STATUS_SUCCESS });
        PLAY("Timeout{timeout=5}(a)", { "a break, start", "arm 5 Timeout, stop a", STATUS_RUNNING },
             { "time", "", STATUS_FAILURE });
}

/* All that runs is halted then; nothing is left behind. */
static void test_errors(void) {
        PLAY("Parallel(a!, Sequence(b, x*))", { "start", "start a, start b", STATUS_RUNNING },
             { "b success", "start x", STATUS_ERROR }, { "halt", "halt a", STATUS_RUNNING },
             { "a success", "", STATUS_HALTED });
        PLAY("Parallel(a, ReactiveSequence(c?, x*))", { "start", "start a", STATUS_RUNNING },
             { "c success", "start x", STATUS_ERROR }, { "halt", "halt a, release c", STATUS_HALTED });
        PLAY("Sequence(a, b)", { "start", "start a", STATUS_RUNNING }, { "a error", "", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
        PLAY("Sequence(c?, b)", { "start", "", STATUS_RUNNING }, { "c error", "release c", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
        PLAY("Timeout{timeout=5}(Parallel(a, b))", { "start", "arm 5 Timeout, start a, start b", STATUS_RUNNING },
             { "b error", "", STATUS_ERROR }, { "halt", "halt a, disarm Timeout", STATUS_HALTED });
        /* An outcome that comes with the halt is of no interest. */
        PLAY("a!", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_RUNNING },
             { "a error", "", STATUS_HALTED });
        PLAY("TryCatch{catch_on_halt=1}(Parallel(a, x*), b+)", { "start", "start a, start x", STATUS_ERROR },
             { "halt", "halt a, start b", STATUS_HALTED });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/control/force-running", test_force_running);
        g_test_add_func("/control/force-idle", test_force_idle);
        g_test_add_func("/control/force-and-hooks", test_force_and_hooks);
        g_test_add_func("/control/force-what-waits", test_force_what_waits);
        g_test_add_func("/control/breakpoint", test_breakpoint);
        g_test_add_func("/control/breakpoint-and-others", test_breakpoint_and_others);
        g_test_add_func("/control/errors", test_errors);
        return g_test_run();
}
