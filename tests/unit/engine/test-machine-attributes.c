/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests attributes of nodes: hooks, uninterruptible nodes, and guards whose expressions fail. */

#include "stage.h"

static void test_hooks(void) {
        PLAY("Sequence(a[hooks], b)", { "start", "start a", STATUS_RUNNING },
             { "a success", "on_success a, always a, start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence[hooks](a, b)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "on_failure Sequence, always Sequence", STATUS_FAILURE });
        /* Not behind what was skipped. */
        PLAY("a[hooks]", { "start", "start a", STATUS_RUNNING }, { "a skipped", "", STATUS_SKIPPED });
        PLAY("a[hooks guards]", { "a fail_if yes, start", "on_failure a, always a", STATUS_FAILURE });
        PLAY("a[hooks guards]", { "a skip_if yes, start", "", STATUS_SKIPPED });
        PLAY("Parallel(a+[hooks], b-[hooks])",
             { "start", "start a, on_success a, always a, start b, on_failure b, always b", STATUS_FAILURE });
        PLAY("c?[hooks]", { "start", "", STATUS_RUNNING },
             { "c success", "on_success c, always c, release c", STATUS_SUCCESS });
}

/* When what was halted has really ended. */
static void test_hooks_behind_a_halt(void) {
        PLAY("a[hooks]", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, on_halted a, always a", STATUS_HALTED });
        PLAY("a![hooks]", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_RUNNING },
             { "a success", "on_halted a, always a", STATUS_HALTED });
        PLAY("Sequence:s[hooks](Parallel(a!, b))", { "start", "start a, start b", STATUS_RUNNING },
             { "halt", "halt a, halt b", STATUS_RUNNING }, { "a success", "on_halted s, always s", STATUS_HALTED });
        PLAY("Sequence:s[hooks](Finally(a, b[hooks]))", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a, start b", STATUS_RUNNING },
             { "b success", "on_success b, always b, on_halted s, always s", STATUS_HALTED });
        PLAY("a[hooks guards]", { "start", "start a", STATUS_RUNNING },
             { "a while no, variable", "halt a, on_halted a, always a", STATUS_SKIPPED });
        /* Before the one that takes over. */
        PLAY("WhileDoElse(c?, a![hooks], b)", { "start, c success", "start a", STATUS_RUNNING },
             { "c failure", "halt a", STATUS_RUNNING },
             { "a success", "on_halted a, always a, start b", STATUS_RUNNING },
             { "b success", "release c", STATUS_SUCCESS });
        /* What has not begun is not halted. */
        PLAY("WhileDoElse(c?, Parallel(a!), ReactiveSequence(d?, b[hooks]))",
             { "start, c success", "start a", STATUS_RUNNING }, { "c failure, d success", "halt a", STATUS_RUNNING },
             { "halt", "release c", STATUS_RUNNING }, { "a success", "", STATUS_HALTED });
}

static void test_hooks_that_raise(void) {
        PLAY("Sequence(a[hooks], b)", { "a raises, start", "start a", STATUS_RUNNING },
             { "a success", "on_success a, always a", STATUS_ERROR }, { "halt", "", STATUS_HALTED });
        PLAY("Parallel(a[hooks], b)", { "a raises, start", "start a, start b", STATUS_RUNNING },
             { "halt", "halt a, on_halted a, always a, halt b", STATUS_ERROR }, { "halt", "", STATUS_HALTED });
        PLAY("Parallel{success_count=1, failure_count=2}(Timeout{timeout=5}(a![hooks]), b)",
             { "a raises, start", "arm 5 Timeout, start a, start b", STATUS_RUNNING },
             { "time", "halt a", STATUS_RUNNING }, { "a success", "on_halted a, always a", STATUS_ERROR },
             { "halt", "halt b", STATUS_HALTED });
}

static void test_guards_that_raise(void) {
        PLAY("Sequence(b+, a[guards])", { "a fail_if error, start", "start b", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
        PLAY("Sequence(a[guards], b)", { "start", "start a", STATUS_RUNNING },
             { "a while error, variable", "", STATUS_ERROR }, { "halt", "halt a", STATUS_HALTED });
        PLAY("Sequence[guards](a, b)", { "Sequence skip_if error, start", "", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
}

/* A guard that runs is looked at when a variable has changed. */
static void test_variables(void) {
        PLAY("Sequence(a[guards], b)", { "start", "start a", STATUS_RUNNING }, { "a while no", "", STATUS_RUNNING },
             { "variable", "halt a, start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
}

/* Only the nodes above see a success. */
static void test_may_fail(void) {
        PLAY("Sequence(a[may_fail], b)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("a[may_fail]", { "start", "start a", STATUS_RUNNING }, { "a skipped", "", STATUS_SKIPPED });
        PLAY("Fallback(Timeout{timeout=5}[may_fail](a), b)", { "start", "arm 5 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a", STATUS_SUCCESS });
}

/* A halt waits until it completes by itself. */
static void test_uninterruptible(void) {
        PLAY("a[uninterruptible]", { "start", "start a", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "a success", "", STATUS_HALTED });
        PLAY("Sequence:s[uninterruptible](a, b)", { "start", "start a", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_HALTED });
        PLAY("Timeout{timeout=5}(Sequence:s[uninterruptible](a, b))",
             { "start", "arm 5 Timeout, start a", STATUS_RUNNING }, { "time", "", STATUS_RUNNING },
             { "a success", "start b", STATUS_RUNNING }, { "b success", "", STATUS_FAILURE });
        PLAY("Fallback(Timeout{timeout=5}(a[uninterruptible]), b)",
             { "start", "arm 5 Timeout, start a", STATUS_RUNNING }, { "time", "", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence:s[uninterruptible](Timeout{timeout=5}(a!), b)",
             { "start", "arm 5 Timeout, start a", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "time", "halt a", STATUS_RUNNING }, { "a success", "", STATUS_HALTED });
        PLAY("Sequence:s[uninterruptible](Parallel{success_count=1}(a, b!))",
             { "start", "start a, start b", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "a success", "halt b", STATUS_RUNNING }, { "b success", "", STATUS_HALTED });
        PLAY("Delay{delay=9}[uninterruptible](a)", { "start", "arm 9 Delay", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "time", "start a", STATUS_RUNNING }, { "a success", "", STATUS_HALTED });
        /* It has no say in what has not begun. */
        PLAY("Sequence:s[uninterruptible lock](a)", { "s busy, start", "lock s", STATUS_RUNNING },
             { "halt", "unlock s", STATUS_HALTED });
        /* Nor in a condition. */
        PLAY("c?[uninterruptible]", { "start", "", STATUS_RUNNING }, { "halt", "release c", STATUS_HALTED });
}

/* It is not started again before it is over. */
static void test_uninterruptible_and_again(void) {
        PLAY("WhileDoElse(c?, Sequence:s[uninterruptible](a, b), x)", { "start, c success", "start a", STATUS_RUNNING },
             { "c failure", "", STATUS_RUNNING }, { "c success", "", STATUS_RUNNING },
             { "a success", "start b", STATUS_RUNNING }, { "b success", "start a", STATUS_RUNNING },
             { "a failure", "release c", STATUS_FAILURE });
        PLAY("WhileDoElse(c?, a[uninterruptible], x)", { "start, c success", "start a", STATUS_RUNNING },
             { "c failure", "", STATUS_RUNNING }, { "a success", "start x", STATUS_RUNNING },
             { "x success", "release c", STATUS_SUCCESS });
        /* A result that waits for its end. */
        PLAY("a[uninterruptible guards]", { "start", "start a", STATUS_RUNNING },
             { "a while no, variable", "", STATUS_RUNNING }, { "nothing", "", STATUS_RUNNING },
             { "a success", "", STATUS_SKIPPED });
        PLAY("Sequence:s[uninterruptible guards](a, b)", { "start", "start a", STATUS_RUNNING },
             { "s while no, variable", "", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b failure", "", STATUS_SKIPPED });
}

/* What is to replace something else begins as a whole, when that has ended. */
static void test_not_begun(void) {
        PLAY("ReactiveFallback(Sequence(c?, Sequence:s[uninterruptible hooks](a)), x!)",
             { "start, c failure", "start x", STATUS_RUNNING }, { "c success", "halt x", STATUS_RUNNING },
             { "halt", "release c", STATUS_RUNNING }, { "x success", "", STATUS_HALTED });
}

/* They say what it has come to. */
static void test_uninterruptible_and_hooks(void) {
        PLAY("a[uninterruptible hooks]", { "start", "start a", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "a success", "on_success a, always a", STATUS_HALTED });
        PLAY("Sequence:s[uninterruptible hooks lock](a)", { "start", "lock s, start a", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "a failure", "on_failure s, always s, unlock s", STATUS_HALTED });
        /* An end that no tick has seen yet. */
        PLAY("a[uninterruptible hooks]", { "start", "start a", STATUS_RUNNING },
             { "a success, halt", "on_success a, always a", STATUS_HALTED });
        PLAY_TOLD("Sequence:s[uninterruptible](a)", { "start", "RUNNING s, start a, RUNNING a", STATUS_RUNNING },
                  { "halt", "", STATUS_RUNNING }, { "a success", "SUCCESS a, SUCCESS s", STATUS_HALTED });
        PLAY_TOLD("a[uninterruptible]", { "start", "start a, RUNNING a", STATUS_RUNNING },
                  { "halt", "", STATUS_RUNNING }, { "a failure", "FAILURE a", STATUS_HALTED });
}

static void test_uninterruptible_error(void) {
        PLAY("Sequence:s[uninterruptible hooks](a, b*)", { "start", "start a", STATUS_RUNNING },
             { "halt", "", STATUS_RUNNING }, { "a success", "start b, on_halted s, always s", STATUS_ERROR },
             { "halt", "", STATUS_HALTED });
        PLAY("a[uninterruptible hooks]", { "start", "start a", STATUS_RUNNING }, { "halt", "", STATUS_RUNNING },
             { "a error", "on_halted a, always a", STATUS_ERROR }, { "halt", "", STATUS_HALTED });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/attributes/hooks", test_hooks);
        g_test_add_func("/attributes/hooks-behind-a-halt", test_hooks_behind_a_halt);
        g_test_add_func("/attributes/hooks-that-raise", test_hooks_that_raise);
        g_test_add_func("/attributes/guards-that-raise", test_guards_that_raise);
        g_test_add_func("/attributes/variables", test_variables);
        g_test_add_func("/attributes/uninterruptible", test_uninterruptible);
        g_test_add_func("/attributes/may-fail", test_may_fail);
        g_test_add_func("/attributes/uninterruptible-and-again", test_uninterruptible_and_again);
        g_test_add_func("/attributes/not-begun", test_not_begun);
        g_test_add_func("/attributes/uninterruptible-and-hooks", test_uninterruptible_and_hooks);
        g_test_add_func("/attributes/uninterruptible-error", test_uninterruptible_error);
        return g_test_run();
}
