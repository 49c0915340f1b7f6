/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engine's types and its rules on halting and time, each as a short story. The recorded traces of
 * tests/conformance say the rest. */

#include "stage.h"

static void test_sequence(void) {
        PLAY("Sequence(a, b, c)", { "start", "start a", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b skipped", "start c", STATUS_RUNNING }, { "c success", "", STATUS_SUCCESS });
        PLAY("Sequence(a, b, c)", { "start", "start a", STATUS_RUNNING }, { "a failure", "", STATUS_FAILURE });
        PLAY("Sequence(a, b)", { "start", "start a", STATUS_RUNNING }, { "a skipped", "start b", STATUS_RUNNING },
             { "b skipped", "", STATUS_SKIPPED });
}

static void test_fallback(void) {
        PLAY("Fallback(a, b, c)", { "start", "start a", STATUS_RUNNING }, { "a failure", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Fallback(a-, b-, c-)", { "start", "start a, start b, start c", STATUS_FAILURE });
}

static void test_parallel(void) {
        PLAY("Parallel(a, b, c)", { "start", "start a, start b, start c", STATUS_RUNNING },
             { "c success", "", STATUS_RUNNING }, { "a success, b success", "", STATUS_SUCCESS });
        PLAY("Parallel(a, b, c)", { "start", "start a, start b, start c", STATUS_RUNNING },
             { "b failure", "halt a, halt c", STATUS_FAILURE });
        PLAY("Parallel{success_count=2, failure_count=2}(a, b, c)",
             { "start", "start a, start b, start c", STATUS_RUNNING }, { "a failure", "", STATUS_RUNNING },
             { "b success, c success", "", STATUS_SUCCESS });
        /* Two of three can no longer succeed. */
        PLAY("Parallel{success_count=2, failure_count=3}(a, b, c)",
             { "start", "start a, start b, start c", STATUS_RUNNING },
             { "a failure, b failure", "halt c", STATUS_FAILURE });
        PLAY("Parallel{success_count=5}(a, b)", { "start", "", STATUS_ERROR });
}

/* A skipped child of a Parallel is tried again: at once if it took time to be skipped, else after the interval. */
static void test_parallel_skipped(void) {
        PLAY("Parallel{success_count=2}(a, b)", { "start", "start a, start b", STATUS_RUNNING },
             { "a skipped", "", STATUS_RUNNING }, { "nothing", "start a", STATUS_RUNNING },
             { "a success, b success", "", STATUS_SUCCESS });
        PLAY("Parallel{success_count=2}(Sequence(c?), b)", { "start", "start b", STATUS_RUNNING },
             { "c success", "release c", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
}

/* Nothing is polled where only a variable or a condition can change that; the interval is for what was done meanwhile.
 */
static void test_parallel_tried(void) {
        static const char *const all[] = { "Parallel{success_count=2}", "ParallelAll" };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
                g_autofree char *guard = g_strdup_printf("%s(a[guards], b)", all[i]);
                g_autofree char *precondition = g_strdup_printf("%s(Precondition:p{else=2}(a), b)", all[i]);
                g_autofree char *condition = g_strdup_printf("%s(IfThenElse(c?, a[guards], d), b)", all[i]);
                g_autofree char *reactive =
                        g_strdup_printf("%s(IfThenElse(ReactiveSequence(c?, k?), a[guards], d), b)", all[i]);
                g_autofree char *action = g_strdup_printf("%s(IfThenElse(e+, a[guards]), b)", all[i]);

                PLAY(guard, { "a skip_if yes, start", "start b", STATUS_RUNNING }, { "variable", "", STATUS_RUNNING },
                     { "nothing", "", STATUS_RUNNING }, { "a skip_if no, variable", "start a", STATUS_RUNNING },
                     { "b success", "", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
                PLAY(precondition, { "start", "start b", STATUS_RUNNING },
                     { "p test yes, variable", "start a", STATUS_RUNNING },
                     { "halt", "halt a, halt b", STATUS_HALTED });
                /* Its first value comes later; then it is kept until an action has started. */
                PLAY(condition, { "a skip_if yes, start", "start b", STATUS_RUNNING },
                     { "c success", "", STATUS_RUNNING }, { "variable", "", STATUS_RUNNING },
                     { "c failure", "start d, release c", STATUS_RUNNING },
                     { "d success, b success", "", STATUS_SUCCESS });
                PLAY(condition, { "c success, a skip_if yes, start", "start b", STATUS_RUNNING },
                     { "halt", "halt b, release c", STATUS_HALTED });
                PLAY(action, { "a skip_if yes, start", "start e, start b, arm 100000 interval", STATUS_RUNNING },
                     { "time", "start e, arm 100000 interval", STATUS_RUNNING },
                     { "halt", "halt b, disarm interval", STATUS_HALTED });
                PLAY(reactive, { "c success, k success, a skip_if yes, start", "start b", STATUS_RUNNING },
                     { "k failure", "start d, release c, release k", STATUS_RUNNING });
        }
}

static void test_outcomes(void) {
        PLAY("Inverter(a)", { "start", "start a", STATUS_RUNNING }, { "a failure", "", STATUS_SUCCESS });
        PLAY("Inverter(a+)", { "start", "start a", STATUS_FAILURE });
        PLAY("ForceSuccess(a-)", { "start", "start a", STATUS_SUCCESS });
        PLAY("ForceFailure(a+)", { "start", "start a", STATUS_FAILURE });
        PLAY("ForceFailure(a)", { "start", "start a", STATUS_RUNNING }, { "a skipped", "", STATUS_SKIPPED });
}

/* else: 0 failure, 1 success, 2 skipped. */
static void test_else(void) {
        for (int i = 0; i < 2; i++) {
                static const char *const types[] = { "IfThenElse", "WhileDoElse" };
                g_autofree char *failure = g_strdup_printf("%s(c-, a)", types[i]),
                                *success = g_strdup_printf("%s{else=1}(c-, a)", types[i]),
                                *skipped = g_strdup_printf("%s{else=2}(c-, a)", types[i]);

                PLAY(failure, { "start", "start c", STATUS_FAILURE });
                PLAY(success, { "start", "start c", STATUS_SUCCESS });
                PLAY(skipped, { "start", "start c", STATUS_SKIPPED });
        }

        PLAY("IfThenElse{else=1}(c+, a)", { "start", "start c, start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
}

static void test_repeat(void) {
        PLAY("Repeat{num_cycles=2}(a)", { "start", "start a", STATUS_RUNNING },
             { "a success", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        /* A round that took no time lets others go first. */
        PLAY("Repeat{num_cycles=2}(a+)", { "start", "start a", STATUS_RUNNING },
             { "nothing", "start a", STATUS_SUCCESS });
        PLAY("Repeat{num_cycles=0}(a)", { "start", "", STATUS_SUCCESS });
}

static void test_retry(void) {
        PLAY("RetryUntilSuccessful{num_attempts=3}(a)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        PLAY("RetryUntilSuccessful{num_attempts=0}(a)", { "start", "", STATUS_FAILURE });
}

static void test_backoff(void) {
        PLAY("RetryUntilSuccessful{num_attempts=5, initial=1000, factor=3, max=5000}(a)",
             { "start", "start a", STATUS_RUNNING }, { "a failure", "arm 1000 RetryUntilSuccessful", STATUS_RUNNING },
             { "time", "start a", STATUS_RUNNING }, { "a failure", "arm 3000 RetryUntilSuccessful", STATUS_RUNNING },
             { "time", "start a", STATUS_RUNNING }, { "a failure", "arm 5000 RetryUntilSuccessful", STATUS_RUNNING },
             { "time", "start a", STATUS_RUNNING }, { "a failure", "arm 5000 RetryUntilSuccessful", STATUS_RUNNING },
             { "time", "start a", STATUS_RUNNING }, { "a failure", "", STATUS_FAILURE });
        PLAY("RetryUntilSuccessful{num_attempts=2, initial=1000, factor=2, max=5000}(a)",
             { "start", "start a", STATUS_RUNNING }, { "a failure", "arm 1000 RetryUntilSuccessful", STATUS_RUNNING },
             { "halt", "disarm RetryUntilSuccessful", STATUS_HALTED });
}

/* Part of each pause is left to chance, but to that of the machine's seed: a replay gives the same. */
static void test_jitter(void) {
        for (unsigned i = 0; i < 2; i++)
                PLAY("RetryUntilSuccessful{num_attempts=4, initial=1000, factor=1, max=5000, jitter=0.5}(a)",
                     { "start", "start a", STATUS_RUNNING },
                     { "a failure", "arm 662 RetryUntilSuccessful", STATUS_RUNNING },
                     { "time", "start a", STATUS_RUNNING },
                     { "a failure", "arm 730 RetryUntilSuccessful", STATUS_RUNNING },
                     { "time", "start a", STATUS_RUNNING },
                     { "a failure", "arm 856 RetryUntilSuccessful", STATUS_RUNNING });
}

/* Many turns of an endless loop that takes no time, then it is slowed down. */
static void test_endless_loop_is_slowed_down(void) {
        Step *steps = g_new0(Step, 1004);

        for (unsigned i = 0; i < 1000; i++)
                steps[i] = (Step){ i == 0 ? "start" : "nothing", "start a", STATUS_RUNNING };
        steps[1000] = (Step){ "nothing", "start a, arm 100000 interval", STATUS_RUNNING };
        steps[1001] = (Step){ "nothing", "", STATUS_RUNNING };

        stage_play("RetryUntilSuccessful{num_attempts=-1}(a-)", steps);
        g_free(steps);
}

/* The elements follow at once, whatever they are; only a loop without an end around them is slowed down. */
static void test_loop(void) {
        Step *steps = g_new0(Step, 1005);

        PLAY("Loop(a+)", { "Loop elements 3, start", "start a", STATUS_RUNNING },
             { "nothing", "start a", STATUS_RUNNING }, { "nothing", "start a", STATUS_RUNNING },
             { "nothing", "", STATUS_SUCCESS });
        PLAY("KeepRunningUntilFailure(a+)", { "start", "start a, arm 100000 interval", STATUS_RUNNING },
             { "variable", "start a", STATUS_RUNNING });

        for (unsigned i = 0; i < 1000; i++)
                steps[i] = (Step){ i == 0 ? "Loop elements 2, start" : "nothing", "start a", STATUS_RUNNING };
        steps[1000] = (Step){ "nothing", "start a, arm 100000 interval", STATUS_RUNNING };
        steps[1001] = (Step){ "nothing", "", STATUS_RUNNING };
        steps[1002] = (Step){ "time", "start a", STATUS_RUNNING };
        steps[1003] = (Step){ "nothing", "start a, arm 100000 interval", STATUS_RUNNING };
        stage_play("Repeat{num_cycles=-1}(Loop(a+))", steps);
        g_free(steps);
}

/* Once in each copy. */
static void test_run_once_for_each(void) {
        PLAY("ForEach(RunOnce(a))",
             { "ForEach elements 3, start", "list ForEach, give RunOnce 0, start a", STATUS_RUNNING },
             { "a success", "give RunOnce 1", STATUS_RUNNING }, { "nothing", "give RunOnce 2", STATUS_SUCCESS });
        PLAY("ForEach{concurrency=2}(RunOnce(a), RunOnce:other(b))",
             { "ForEach elements 4, start", "list ForEach, give RunOnce 0, start a, give other 1, start b",
               STATUS_RUNNING },
             { "a success, b success", "give RunOnce 2, give other 3", STATUS_RUNNING },
             { "nothing", "", STATUS_SUCCESS });
}

static void test_delay(void) {
        PLAY("Delay{delay=700}(a)", { "start", "arm 700 Delay", STATUS_RUNNING }, { "time", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_SUCCESS });
        PLAY("Delay{delay=700}(a)", { "start", "arm 700 Delay", STATUS_RUNNING },
             { "halt", "disarm Delay", STATUS_HALTED });
}

static void test_timeout(void) {
        PLAY("Timeout{timeout=5000}(a)", { "start", "arm 5000 Timeout, start a", STATUS_RUNNING },
             { "a success", "disarm Timeout", STATUS_SUCCESS });
        PLAY("Timeout{timeout=5000}(a)", { "start", "arm 5000 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a", STATUS_FAILURE });
        /* Both at once: the child wins. */
        PLAY("Timeout{timeout=5000}(a)", { "start", "arm 5000 Timeout, start a", STATUS_RUNNING },
             { "time, a success", "", STATUS_SUCCESS });
        PLAY("Timeout{timeout=0}(a)", { "start", "start a", STATUS_RUNNING });
}

/* The second round comes when its time has come; another activation starts over. */
static void test_rate_controller(void) {
        PLAY("Repeat{num_cycles=2}(RateController{period=5000}(a))",
             { "start", "arm 5000 RateController, start a", STATUS_RUNNING }, { "a success", "", STATUS_RUNNING },
             { "time", "arm 5000 RateController, start a", STATUS_RUNNING },
             { "a success", "disarm RateController", STATUS_SUCCESS });
        PLAY("Repeat{num_cycles=2}(RateController{hz=200}(a))",
             { "start", "arm 5000 RateController, start a", STATUS_RUNNING },
             { "time, a success", "arm 5000 RateController, start a", STATUS_RUNNING },
             { "halt", "halt a, disarm RateController", STATUS_HALTED });
}

/* A result waits until everything that was halted on the way to it has ended. */
static void test_awaited_halt(void) {
        PLAY("Fallback(Timeout{timeout=5000}(a!), b)", { "start", "arm 5000 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a", STATUS_RUNNING }, { "a success", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Sequence(Parallel{success_count=1}(a!, b, c!), d)",
             { "start", "start a, start b, start c", STATUS_RUNNING },
             { "b success", "halt a, halt c", STATUS_RUNNING }, { "c failure", "", STATUS_RUNNING },
             { "a failure", "start d", STATUS_RUNNING });
        PLAY("Sequence(a!, b)", { "start", "start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_RUNNING },
             { "a success", "", STATUS_HALTED });
}

/* A halt in the middle of a halt does not halt twice, and what is held is forgotten. */
static void test_halt_while_ending(void) {
        PLAY("Timeout{timeout=9000}(Fallback(Timeout{timeout=5000}(a!), b))",
             { "start", "arm 9000 Timeout, arm 5000 Timeout, start a", STATUS_RUNNING },
             { "time", "halt a", STATUS_RUNNING }, { "time", "", STATUS_RUNNING }, { "a success", "", STATUS_FAILURE });
}

/* Where one running child takes over from another, it starts when that one has ended. */
static void test_halt_before_start(void) {
        PLAY("ReactiveFallback(Sequence(c?, a), b!)", { "start", "", STATUS_RUNNING },
             { "c failure", "start b", STATUS_RUNNING }, { "c success", "halt b", STATUS_RUNNING },
             { "b failure", "start a", STATUS_RUNNING }, { "a success", "release c", STATUS_SUCCESS });
        PLAY("WhileDoElse(c?, a!, b!)", { "start", "", STATUS_RUNNING }, { "c success", "start a", STATUS_RUNNING },
             { "c failure", "halt a", STATUS_RUNNING }, { "c success", "", STATUS_RUNNING },
             { "a failure", "start a", STATUS_RUNNING }, { "halt", "halt a, release c", STATUS_RUNNING },
             { "a success", "", STATUS_HALTED });
}

static void test_reactive_sequence(void) {
        PLAY("ReactiveSequence(c?, d?, a!)", { "start", "", STATUS_RUNNING }, { "c success", "", STATUS_RUNNING },
             { "d success", "start a", STATUS_RUNNING },
             { "d failure", "halt a, release c, release d", STATUS_RUNNING }, { "a success", "", STATUS_FAILURE });
}

/* A while that skips a child at each tick makes it one that was skipped, not more; and skipped rounds are forgotten. */
static void test_reactive_skipped(void) {
        PLAY("ReactiveSequence(a[guards], b)", { "a while no, start", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("ReactiveSequence(Repeat{num_cycles=2}(a), b)", { "start", "start a", STATUS_RUNNING },
             { "a success", "start a", STATUS_RUNNING }, { "a skipped", "start b", STATUS_RUNNING },
             { "variable", "halt b, start a", STATUS_RUNNING }, { "a success", "start a", STATUS_RUNNING });
}

static void test_round_robin(void) {
        PLAY("Repeat{num_cycles=3}(RoundRobin(a, b))", { "start", "start a", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "b success", "start a", STATUS_RUNNING },
             { "a success", "start b", STATUS_RUNNING }, { "b failure", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_SUCCESS });
}

static void test_recovery(void) {
        PLAY("RecoveryNode{number_of_retries=1}(a, b)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "start b", STATUS_RUNNING }, { "b success", "start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
}

/* A tick that no input asked for begins an activation, too. */
static void test_tick_without_input(void) {
        PLAY("Sequence(a+, b-)", { "tick", "start a, start b", STATUS_FAILURE },
             { "tick", "start a, start b", STATUS_FAILURE });
        PLAY("Sequence(a+, b, c)", { "tick", "start a, start b", STATUS_RUNNING },
             { "b success", "start c", STATUS_RUNNING }, { "c success", "", STATUS_SUCCESS });
        PLAY("Parallel(a+, b)", { "tick", "start a, start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("Parallel(a+, b-)", { "tick", "start a, start b", STATUS_FAILURE });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/machine/sequence", test_sequence);
        g_test_add_func("/machine/fallback", test_fallback);
        g_test_add_func("/machine/parallel", test_parallel);
        g_test_add_func("/machine/parallel-skipped", test_parallel_skipped);
        g_test_add_func("/machine/parallel-tried", test_parallel_tried);
        g_test_add_func("/machine/outcomes", test_outcomes);
        g_test_add_func("/machine/else", test_else);
        g_test_add_func("/machine/repeat", test_repeat);
        g_test_add_func("/machine/retry", test_retry);
        g_test_add_func("/machine/backoff", test_backoff);
        g_test_add_func("/machine/jitter", test_jitter);
        g_test_add_func("/machine/endless-loop-is-slowed-down", test_endless_loop_is_slowed_down);
        g_test_add_func("/machine/loop", test_loop);
        g_test_add_func("/machine/run-once-for-each", test_run_once_for_each);
        g_test_add_func("/machine/delay", test_delay);
        g_test_add_func("/machine/timeout", test_timeout);
        g_test_add_func("/machine/rate-controller", test_rate_controller);
        g_test_add_func("/machine/awaited-halt", test_awaited_halt);
        g_test_add_func("/machine/halt-while-ending", test_halt_while_ending);
        g_test_add_func("/machine/halt-before-start", test_halt_before_start);
        g_test_add_func("/machine/reactive-sequence", test_reactive_sequence);
        g_test_add_func("/machine/reactive-skipped", test_reactive_skipped);
        g_test_add_func("/machine/round-robin", test_round_robin);
        g_test_add_func("/machine/recovery", test_recovery);
        g_test_add_func("/machine/tick-without-input", test_tick_without_input);
        return g_test_run();
}
