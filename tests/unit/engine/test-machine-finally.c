/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests Finally: its clean-up runs exactly once, however its body ends. */

#include "stage.h"

static void test_outcomes(void) {
        PLAY("Finally(a, b)", { "start", "start a", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Finally(a, b)", { "start", "start a", STATUS_RUNNING }, { "a failure", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_FAILURE });
        /* Only a SUCCESS can be spoiled. */
        PLAY("Finally(a, b)", { "start", "start a", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b failure", "", STATUS_FAILURE });
        PLAY("Finally(a, b)", { "start", "start a", STATUS_RUNNING }, { "a failure", "start b", STATUS_RUNNING },
             { "b failure", "", STATUS_FAILURE });
        PLAY("Finally(a+, b+)", { "start", "start a, start b", STATUS_SUCCESS });
        PLAY("Finally(a-, b+)", { "start", "start a, start b", STATUS_FAILURE });
}

/* after: 1 success, 2 failure, 4 halted. */
static void test_after(void) {
        PLAY("Finally{after=6}(a, b)", { "start", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        PLAY("Finally{after=6}(a, b)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "b failure", "", STATUS_FAILURE });
        PLAY("Finally{after=6}(a, b)", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_HALTED });
        PLAY("Finally{after=4}(a[guards], b)", { "start", "start a", STATUS_RUNNING },
             { "a while no, variable", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_SKIPPED });
        PLAY("Finally{after=2}(a, b)", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_HALTED });
        /* A clean-up that has begun continues after a halt. */
        PLAY("Finally{after=2}(a, b)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
}

/* A body that was skipped when it was to start has nothing to be cleaned up. */
static void test_skipped(void) {
        PLAY("Finally(a[guards], b)", { "a skip_if yes, start", "", STATUS_SKIPPED });
        PLAY("Finally(a, b)", { "start", "start a", STATUS_RUNNING }, { "a skipped", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_SKIPPED });
        PLAY("Finally(a[guards], b)", { "start", "start a", STATUS_RUNNING },
             { "a while no, variable", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_SKIPPED });
}

/* The clean-up starts when the body has really ended, and the run is over when that has. */
static void test_halted(void) {
        PLAY("Finally(a, b)", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a, start b", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
        PLAY("Finally(a, b+)", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a, start b", STATUS_HALTED });
        PLAY("Finally(a!, b)", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_RUNNING },
             { "nothing", "", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b failure", "", STATUS_HALTED });
        PLAY("Sequence(x+, Finally(a, b), c)", { "start", "start x, start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_HALTED });
}

/* The clean-up goes on, and is not run again. */
static void test_halted_in_clean_up(void) {
        PLAY("Finally(a+, b)", { "start", "start a, start b", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "b success", "", STATUS_HALTED });
        PLAY("Finally(a+, Sequence(b, c))", { "start", "start a, start b", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "b success", "start c", STATUS_RUNNING },
             { "c success", "", STATUS_HALTED });
}

/* Nothing that comes after it starts before the clean-up is over. */
static void test_what_comes_after(void) {
        PLAY("Sequence(Timeout{timeout=5}(Finally(a, b)), c)", { "start", "arm 5 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_FAILURE });
        PLAY("Fallback(Timeout{timeout=5}(Finally(a, b)), c)", { "start", "arm 5 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a, start b", STATUS_RUNNING }, { "b success", "start c", STATUS_RUNNING },
             { "c success", "", STATUS_SUCCESS });
        PLAY("ReactiveFallback(c?, Finally(a, b))", { "start", "", STATUS_RUNNING },
             { "c failure", "start a", STATUS_RUNNING }, { "c success", "halt a, start b, release c", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        /* A node that is halted and started again waits for its own clean-up. */
        PLAY("WhileDoElse(c?, Finally(a, b), x)", { "start, c success", "start a", STATUS_RUNNING },
             { "c failure", "halt a, start b", STATUS_RUNNING }, { "c success", "", STATUS_RUNNING },
             { "b success", "start a", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b success", "release c", STATUS_SUCCESS });
}

/* A body that was not started, as what it replaces has not ended, has nothing to be cleaned up. */
static void test_not_begun(void) {
        PLAY("ReactiveFallback(Sequence(c?, Finally(a, b)), x!)", { "start, c failure", "start x", STATUS_RUNNING },
             { "c success", "halt x", STATUS_RUNNING }, { "halt", "release c", STATUS_RUNNING },
             { "x success", "", STATUS_HALTED });
        PLAY("ReactiveFallback(Sequence(c?, Finally(a, b)), x!)", { "start, c failure", "start x", STATUS_RUNNING },
             { "c success", "halt x", STATUS_RUNNING }, { "x success", "start a", STATUS_RUNNING },
             { "c failure", "", STATUS_RUNNING }, { "halt", "halt a, start b, release c", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
        PLAY("ReactiveFallback(Sequence(c?, Finally(a, b)), x)", { "start, c failure", "start x", STATUS_RUNNING },
             { "c success", "halt x, start a", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b success", "release c", STATUS_SUCCESS });
}

/* A clean-up that takes too long is halted, which is waited for. */
static void test_limit(void) {
        PLAY("Finally{timeout=7}(a+, b!)", { "start", "start a, arm 7 Finally, start b", STATUS_RUNNING },
             { "time", "halt b", STATUS_RUNNING }, { "b success", "", STATUS_FAILURE });
        PLAY("Finally{timeout=7}(a-, b)", { "start", "start a, arm 7 Finally, start b", STATUS_RUNNING },
             { "time", "halt b", STATUS_FAILURE });
        PLAY("Finally{timeout=7}(a, b!)", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, arm 7 Finally, start b", STATUS_RUNNING }, { "time", "halt b", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
        PLAY("Finally{timeout=7}(a, b)", { "start", "start a", STATUS_RUNNING },
             { "a success", "arm 7 Finally, start b", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "b success", "disarm Finally", STATUS_HALTED });
}

/* From the inside to the outside. */
static void test_nested(void) {
        PLAY("Finally(Finally(a, b), c)", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b success", "start c", STATUS_RUNNING },
             { "c success", "", STATUS_HALTED });
        PLAY("Finally(a, Finally(b, c))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b failure", "start c", STATUS_RUNNING },
             { "c success", "", STATUS_HALTED });
        PLAY("Parallel(Finally(a, b), Finally(c, d))", { "start", "start a, start c", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "b success", "halt c, start d", STATUS_RUNNING },
             { "d success", "", STATUS_FAILURE });
}

/* Everything that a tree can do is done in a clean-up that has been halted, too. */
static void test_live_inside(void) {
        PLAY("Finally(a, Timeout{timeout=5}(Repeat{num_cycles=2}(b)))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, arm 5 Timeout, start b", STATUS_RUNNING }, { "b success", "start b", STATUS_RUNNING },
             { "time", "halt b", STATUS_HALTED });
        PLAY("Finally(a, AsyncSequence(b+, c))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b, start c", STATUS_RUNNING }, { "c success", "", STATUS_HALTED });
        PLAY("Finally(a, WaitFor(c?))", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_RUNNING },
             { "c failure", "", STATUS_RUNNING }, { "c success", "release c", STATUS_HALTED });
        /* Its conditions outlive the reactive node around it. */
        PLAY("ReactiveSequence(Finally(a, ReactiveSequence(c?, b)))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a", STATUS_RUNNING }, { "c success", "start b", STATUS_RUNNING },
             { "c failure", "halt b, release c", STATUS_HALTED });
        PLAY("Finally(a, Delay{delay=9}(b))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, arm 9 Delay", STATUS_RUNNING }, { "time", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
        /* KeepRunningUntilFailure asks for its rounds itself. */
        PLAY("Finally(a, KeepRunningUntilFailure(b+))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b, start b, arm 100000 interval", STATUS_RUNNING },
             { "time", "start b, arm 100000 interval", STATUS_RUNNING });
}

/* An error in the body or beside it does not keep the clean-up from running; nor does one in itself. */
static void test_error(void) {
        PLAY("Finally(a*, b)", { "start", "start a", STATUS_ERROR }, { "halt", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
        PLAY("Parallel(Finally(a, b), x*)", { "start", "start a, start x", STATUS_ERROR },
             { "halt", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_HALTED });
        PLAY("Finally(a+, b*)", { "start", "start a, start b", STATUS_ERROR }, { "halt", "", STATUS_HALTED });
        /* Told when it is met. */
        PLAY("Finally(a, b*)", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a, start b", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
        PLAY("Sequence(Timeout{timeout=5}(Finally(a, Sequence(b, x*))), c)",
             { "start", "arm 5 Timeout, start a", STATUS_RUNNING }, { "time", "halt a, start b", STATUS_RUNNING },
             { "b success", "start x", STATUS_ERROR }, { "halt", "", STATUS_HALTED });
}

/* What was halted is told of when it is over. */
static void test_told(void) {
        PLAY_TOLD("Finally:f(a, b)", { "start", "RUNNING f, start a, RUNNING a", STATUS_RUNNING },
                  { "halt", "halt a, HALTED a, start b, RUNNING b", STATUS_RUNNING },
                  { "b success", "SUCCESS b, HALTED f", STATUS_HALTED });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/finally/outcomes", test_outcomes);
        g_test_add_func("/finally/skipped", test_skipped);
        g_test_add_func("/finally/halted", test_halted);
        g_test_add_func("/finally/halted-in-clean-up", test_halted_in_clean_up);
        g_test_add_func("/finally/what-comes-after", test_what_comes_after);
        g_test_add_func("/finally/not-begun", test_not_begun);
        g_test_add_func("/finally/limit", test_limit);
        g_test_add_func("/finally/after", test_after);
        g_test_add_func("/finally/nested", test_nested);
        g_test_add_func("/finally/live-inside", test_live_inside);
        g_test_add_func("/finally/error", test_error);
        g_test_add_func("/finally/told", test_told);
        return g_test_run();
}
