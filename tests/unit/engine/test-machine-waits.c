/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests WaitFor and OnChange, and causes that decide whether something is retried or caught. */

#include "stage.h"

static void test_wait_for(void) {
        PLAY("WaitFor(c?)", { "start", "", STATUS_RUNNING }, { "c failure", "", STATUS_RUNNING },
             { "c success", "release c", STATUS_SUCCESS });
        PLAY("WaitFor(Sequence(c?, Inverter(d?)))", { "start", "", STATUS_RUNNING },
             { "c success", "", STATUS_RUNNING }, { "d success", "", STATUS_RUNNING },
             { "d failure", "release c, release d", STATUS_SUCCESS });
        PLAY("WaitFor(c?)", { "start, c success", "release c", STATUS_SUCCESS });
        PLAY("WaitFor(c?)", { "start, c failure", "", STATUS_RUNNING }, { "halt", "release c", STATUS_HALTED });
        /* A SubTree is entered for each look at it. */
        PLAY("WaitFor(SubTree(Sequence(c?, d?)))",
             { "start, c failure, d success", "enter SubTree, leave SubTree failure", STATUS_RUNNING },
             { "c success", "enter SubTree, leave SubTree success, release c, release d", STATUS_SUCCESS });
        PLAY("WaitFor(Inverter(SubTree(c?)))", { "start", "enter SubTree", STATUS_RUNNING },
             { "c success", "leave SubTree success", STATUS_RUNNING },
             { "c failure", "enter SubTree, leave SubTree failure, release c", STATUS_SUCCESS });
        PLAY("Sequence(WaitFor(c?), a)", { "start, c failure", "", STATUS_RUNNING },
             { "c success", "release c, start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        /* Nothing else makes it look. */
        PLAY("Parallel(WaitFor(c?), a)", { "start, c failure", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_RUNNING }, { "c success", "release c", STATUS_SUCCESS });
}

static void test_wait_for_timeout(void) {
        PLAY("WaitFor{timeout=5}(c?)", { "start, c failure", "arm 5 WaitFor", STATUS_RUNNING },
             { "time", "release c", STATUS_FAILURE });
        PLAY("WaitFor{timeout=5}(c?)", { "start", "arm 5 WaitFor", STATUS_RUNNING },
             { "time", "release c", STATUS_FAILURE });
        PLAY("WaitFor{timeout=5}(c?)", { "start", "arm 5 WaitFor", STATUS_RUNNING },
             { "c success", "release c, disarm WaitFor", STATUS_SUCCESS });
        /* The condition wins. */
        PLAY("WaitFor{timeout=5}(c?)", { "start", "arm 5 WaitFor", STATUS_RUNNING },
             { "c success, time", "release c", STATUS_SUCCESS });
}

/* Below a reactive node it is looked at again. */
static void test_wait_for_reactively(void) {
        PLAY("ReactiveSequence(WaitFor(c?), a)", { "start, c success", "start a", STATUS_RUNNING },
             { "c failure", "halt a", STATUS_RUNNING }, { "c success", "start a", STATUS_RUNNING },
             { "a success", "release c", STATUS_SUCCESS });
}

static void test_on_change(void) {
        PLAY("KeepRunningUntilFailure(OnChange(a))", { "start", "start a", STATUS_RUNNING },
             { "a success", "", STATUS_RUNNING }, { "nothing", "", STATUS_RUNNING }, { "variable", "", STATUS_RUNNING },
             { "OnChange new, variable", "start a", STATUS_RUNNING }, { "OnChange new, variable", "", STATUS_RUNNING },
             { "a success", "", STATUS_RUNNING }, { "nothing", "start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("OnChange{otherwise=1}(a)", { "start", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS },
             { "start", "", STATUS_SKIPPED }, { "OnChange new, start", "start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("OnChange(a)", { "start", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS },
             { "start", "", STATUS_RUNNING }, { "halt", "", STATUS_HALTED });
        PLAY("Sequence(OnChange(a), b)", { "OnChange raises, start", "", STATUS_ERROR }, { "halt", "", STATUS_HALTED });
}

/* Another cause is not tried again. */
static void test_retry_on(void) {
        PLAY("RetryUntilSuccessful{num_attempts=3, retry_on=1}(a)", { "start", "start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("RetryUntilSuccessful{num_attempts=3, retry_on=1}(a)", { "a matches, start", "start a", STATUS_RUNNING },
             { "a failure", "start a", STATUS_RUNNING }, { "a failure", "start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("RetryUntilSuccessful{num_attempts=3, initial=9, max=9, factor=1, retry_on=1}(a)",
             { "start", "start a", STATUS_RUNNING },
             { "a matches, a failure", "arm 9 RetryUntilSuccessful", STATUS_RUNNING },
             { "time", "start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
}

/* Another cause is not caught. */
static void test_catch(void) {
        PLAY("TryCatch{catch=1}(a, b, c)", { "b matches, start", "start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("TryCatch{catch=1}(a, b, c)", { "b matches, start", "start a", STATUS_RUNNING },
             { "a success", "start b", STATUS_RUNNING }, { "b failure", "start c", STATUS_RUNNING },
             { "c success", "", STATUS_FAILURE });
        PLAY("TryCatch(a, b)", { "start", "start a", STATUS_RUNNING }, { "a failure", "start b", STATUS_RUNNING },
             { "b success", "", STATUS_FAILURE });
        PLAY("TryCatch{catch=1, catch_on_halt=1}(a!, b+)", { "start", "start a", STATUS_RUNNING },
             { "halt", "halt a", STATUS_RUNNING }, { "a success", "start b", STATUS_HALTED });
}

/*
 * Where b has to end before a can start, everything that has led to a is evaluated again until then. In each tree b
 * gives way when m succeeds; then the input comes, while b is ending, and then b ends.
 */
typedef struct Meanwhile {
        const char *child;
        const char *at_first; /* what is known of conditions and tests besides m */
        const char *begun;    /* what happens when m succeeds, before b is halted */
        const char *input, *effects, *at_end;
        Status result;
} Meanwhile;

static void play_meanwhile(const Meanwhile *meanwhile) {
        g_autofree char *tree = g_strdup_printf("ReactiveFallback(Sequence(m?, %s), b!)", meanwhile->child);
        g_autofree char *start = g_strdup_printf("%s, start, m failure", meanwhile->at_first);
        g_autofree char *begun = g_strdup_printf("%shalt b", meanwhile->begun);

        g_test_message("%s: %s", tree, meanwhile->input);
        PLAY(tree, { start, "start b", STATUS_RUNNING }, { "m success", begun, STATUS_RUNNING },
             { meanwhile->input, meanwhile->effects, STATUS_RUNNING },
             { "b failure", meanwhile->at_end, meanwhile->result });
}

static void test_meanwhile(void) {
        static const Meanwhile all[] = {
                /* What waits itself. */
                { "a[guards]", "nothing", "", "a skip_if yes, variable", "release m", "", STATUS_SUCCESS },
                { "a[guards]", "nothing", "", "a success_if yes, variable", "release m", "", STATUS_SUCCESS },
                { "a[guards]", "nothing", "", "a fail_if yes, variable", "", "start b", STATUS_RUNNING },
                { "a[guards]", "nothing", "", "a while no, variable", "release m", "", STATUS_SUCCESS },
                { "a[guards hooks lock]", "nothing", "", "a fail_if yes, variable", "on_failure a, always a",
                  "on_failure a, always a, start b", STATUS_RUNNING },
                { "a[guards uninterruptible]", "nothing", "", "a skip_if yes, variable", "release m", "",
                  STATUS_SUCCESS },
                { "Finally:x[guards](a, d+)", "nothing", "", "x skip_if yes, variable", "release m", "",
                  STATUS_SUCCESS },
                { "Sequence(n?, Finally(a, d+))", "n success", "", "n failure", "", "start b", STATUS_RUNNING },
                /* What is around it, and has not started an action. */
                { "Sequence:x[guards](n?, a)", "n success", "", "x fail_if yes, variable", "", "start b",
                  STATUS_RUNNING },
                { "Inverter(Timeout{timeout=9}(Fallback:x[guards](a)))", "nothing", "arm 9 Timeout, ",
                  "x success_if yes, variable", "disarm Timeout", "arm 9 Timeout, disarm Timeout, start b",
                  STATUS_RUNNING },
                { "SubTree:x[guards](Sequence(a))", "nothing", "enter x, ", "x skip_if yes, variable", "release m", "",
                  STATUS_SUCCESS },
                { "Parallel:x[guards](a, d)", "nothing", "", "x skip_if yes, variable", "release m", "",
                  STATUS_SUCCESS },
                { "Sequence:x[guards](d+, a)", "nothing", "start d, ", "x skip_if yes, variable", "", "start a",
                  STATUS_RUNNING },
                { "Precondition:x{else=1}(a)", "x test yes", "", "x test no, variable", "", "start b", STATUS_RUNNING },
                { "Precondition:x{else=2}(Sequence(a))", "x test yes", "", "x test no, variable", "release m", "",
                  STATUS_SUCCESS },
                { "Precondition:x{else=3}(a)", "x test yes", "", "x test no, variable", "", "", STATUS_RUNNING },
                { "Precondition:x{else=1}(Sequence(d+, a))", "x test yes", "start d, ", "x test no, variable", "",
                  "start a", STATUS_RUNNING },
                /* What comes before it. */
                { "a", "nothing", "", "m failure", "", "start b", STATUS_RUNNING },
                { "a", "nothing", "", "m failure, m success", "", "start a", STATUS_RUNNING },
                { "Sequence(n?, a)", "n success", "", "n failure", "", "start b", STATUS_RUNNING },
                { "Sequence(n?, a)", "n success", "", "n running", "", "", STATUS_RUNNING },
                { "Sequence(d+, n?, a)", "n success", "start d, ", "n failure", "", "start d, start b",
                  STATUS_RUNNING },
                { "Sequence(n?, Sequence(d+, a))", "n success", "start d, ", "n failure", "", "start a",
                  STATUS_RUNNING },
                { "Sequence(n?[guards], a)", "n success", "", "n fail_if yes, variable", "", "start b",
                  STATUS_RUNNING },
                { "Sequence(Inverter(n?), AsyncSequence(a))", "n failure", "", "n success", "", "start b",
                  STATUS_RUNNING },
                { "Sequence(SubTree(n?), a)", "n success", "enter SubTree, leave SubTree success, ", "n failure",
                  "enter SubTree, leave SubTree failure", "enter SubTree, leave SubTree failure, start b",
                  STATUS_RUNNING },
                { "Sequence(Precondition:x{else=1}(n?), a)", "n success, x test yes", "", "x test no, variable", "",
                  "start b", STATUS_RUNNING },
                { "Fallback(n?, a)", "n failure", "", "n success", "release m, release n", "", STATUS_SUCCESS },
                { "SequenceWithMemory(n?, a)", "n success", "", "n failure", "", "start b", STATUS_RUNNING },
                { "TryCatch{catch_on_halt=1}(n?, a, d+)", "n success", "", "n failure", "start d", "start d, start b",
                  STATUS_RUNNING },
                { "TryCatch{catch_on_halt=1}(n?, a, d+)", "n success", "", "m failure", "", "start b", STATUS_RUNNING },
                { "IfThenElse(n?, a, d)", "n success", "", "n failure", "", "start d", STATUS_RUNNING },
                { "IfThenElse(n?, a, d)", "n success", "", "n running", "", "", STATUS_RUNNING },
                { "IfThenElse(n?, a)", "n success", "", "n failure", "", "start b", STATUS_RUNNING },
                { "IfThenElse(n?, Sequence(a), d)", "n failure", "", "n success", "", "start a", STATUS_RUNNING },
                { "WhileDoElse(n?, a, d)", "n success", "", "n failure", "", "start d", STATUS_RUNNING },
                { "ReactiveSequence(n?, a)", "n success", "", "n failure", "", "start b", STATUS_RUNNING },
                { "ReactiveFallback(Sequence(n?, a), d)", "n success", "", "n failure", "", "start d", STATUS_RUNNING },
                { "Sequence(n?, ReactiveSequence(k?, IfThenElse(l?, Sequence(a), d)))",
                  "n success, k success, l success", "", "n failure", "", "start b", STATUS_RUNNING },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                play_meanwhile(&all[i]);
}

static void test_error_meanwhile(void) {
        static const struct {
                const char *child, *at_first, *input;
        } all[] = {
                { "a[guards]", "start", "a fail_if error, variable" },
                { "Sequence(n?, a)", "n success, start", "n error" },
                { "IfThenElse(n?, a, e)", "n success, start", "n error" },
                { "Precondition:x(a)", "x test yes, start", "x test error, variable" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
                g_autofree char *tree =
                        g_strdup_printf("Sequence(ReactiveFallback(Sequence(m?, %s), b!), d)", all[i].child);

                PLAY(tree, { all[i].at_first, "", STATUS_RUNNING }, { "m failure", "start b", STATUS_RUNNING },
                     { "m success", "halt b", STATUS_RUNNING }, { all[i].input, "", STATUS_ERROR });
        }
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/waits/wait-for", test_wait_for);
        g_test_add_func("/waits/wait-for-timeout", test_wait_for_timeout);
        g_test_add_func("/waits/wait-for-reactively", test_wait_for_reactively);
        g_test_add_func("/waits/on-change", test_on_change);
        g_test_add_func("/waits/retry-on", test_retry_on);
        g_test_add_func("/waits/catch", test_catch);
        g_test_add_func("/waits/meanwhile", test_meanwhile);
        g_test_add_func("/waits/error-meanwhile", test_error_meanwhile);
        return g_test_run();
}
