/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Types that wait for a condition or a change; and causes, which decide what is tried again or caught. */

#include "stage.h"

static void test_wait_for(void) {
        stage_play("WaitFor(c?)", (Step[]){
                                          { "start", "", STATUS_RUNNING },
                                          { "c failure", "", STATUS_RUNNING },
                                          { "c success", "release c", STATUS_SUCCESS },
                                          {},
                                  });
        stage_play("WaitFor(Sequence(c?, Inverter(d?)))",
                   (Step[]){
                           { "start", "", STATUS_RUNNING },
                           { "c success", "", STATUS_RUNNING },
                           { "d success", "", STATUS_RUNNING },
                           { "d failure", "release c, release d", STATUS_SUCCESS },
                           {},
                   });
        stage_play("WaitFor(c?)", (Step[]){
                                          { "start, c success", "release c", STATUS_SUCCESS },
                                          {},
                                  });
        stage_play("WaitFor(c?)", (Step[]){
                                          { "start, c failure", "", STATUS_RUNNING },
                                          { "halt", "release c", STATUS_HALTED },
                                          {},
                                  });
        /* A SubTree is entered for each look at it. */
        stage_play(
                "WaitFor(SubTree(Sequence(c?, d?)))",
                (Step[]){
                        { "start, c failure, d success", "enter SubTree, leave SubTree failure", STATUS_RUNNING },
                        { "c success", "enter SubTree, leave SubTree success, release c, release d", STATUS_SUCCESS },
                        {},
                });
        stage_play("WaitFor(Inverter(SubTree(c?)))",
                   (Step[]){
                           { "start", "enter SubTree", STATUS_RUNNING },
                           { "c success", "leave SubTree success", STATUS_RUNNING },
                           { "c failure", "enter SubTree, leave SubTree failure, release c", STATUS_SUCCESS },
                           {},
                   });
        stage_play("Sequence(WaitFor(c?), a)", (Step[]){
                                                       { "start, c failure", "", STATUS_RUNNING },
                                                       { "c success", "release c, start a", STATUS_RUNNING },
                                                       { "a success", "", STATUS_SUCCESS },
                                                       {},
                                               });
        /* Nothing else makes it look. */
        stage_play("Parallel(WaitFor(c?), a)", (Step[]){
                                                       { "start, c failure", "start a", STATUS_RUNNING },
                                                       { "a success", "", STATUS_RUNNING },
                                                       { "c success", "release c", STATUS_SUCCESS },
                                                       {},
                                               });
}

static void test_wait_for_timeout(void) {
        stage_play("WaitFor{timeout=5}(c?)", (Step[]){
                                                     { "start, c failure", "arm 5 WaitFor", STATUS_RUNNING },
                                                     { "time", "release c", STATUS_FAILURE },
                                                     {},
                                             });
        stage_play("WaitFor{timeout=5}(c?)", (Step[]){
                                                     { "start", "arm 5 WaitFor", STATUS_RUNNING },
                                                     { "time", "release c", STATUS_FAILURE },
                                                     {},
                                             });
        stage_play("WaitFor{timeout=5}(c?)", (Step[]){
                                                     { "start", "arm 5 WaitFor", STATUS_RUNNING },
                                                     { "c success", "release c, disarm WaitFor", STATUS_SUCCESS },
                                                     {},
                                             });
        /* The condition wins. */
        stage_play("WaitFor{timeout=5}(c?)", (Step[]){
                                                     { "start", "arm 5 WaitFor", STATUS_RUNNING },
                                                     { "c success, time", "release c", STATUS_SUCCESS },
                                                     {},
                                             });
}

/* Below a reactive node it is looked at again. */
static void test_wait_for_reactively(void) {
        stage_play("ReactiveSequence(WaitFor(c?), a)", (Step[]){
                                                               { "start, c success", "start a", STATUS_RUNNING },
                                                               { "c failure", "halt a", STATUS_RUNNING },
                                                               { "c success", "start a", STATUS_RUNNING },
                                                               { "a success", "release c", STATUS_SUCCESS },
                                                               {},
                                                       });
}

static void test_on_change(void) {
        stage_play("KeepRunningUntilFailure(OnChange(a))",
                   (Step[]){
                           { "start", "start a", STATUS_RUNNING },
                           { "a success", "", STATUS_RUNNING },
                           { "nothing", "", STATUS_RUNNING },
                           { "variable", "", STATUS_RUNNING },
                           { "OnChange new, variable", "start a", STATUS_RUNNING },
                           { "OnChange new, variable", "", STATUS_RUNNING },
                           { "a success", "", STATUS_RUNNING },
                           { "nothing", "start a", STATUS_RUNNING },
                           { "a failure", "", STATUS_FAILURE },
                           {},
                   });
        stage_play("OnChange{otherwise=1}(a)", (Step[]){
                                                       { "start", "start a", STATUS_RUNNING },
                                                       { "a success", "", STATUS_SUCCESS },
                                                       { "start", "", STATUS_SKIPPED },
                                                       { "OnChange new, start", "start a", STATUS_RUNNING },
                                                       { "a failure", "", STATUS_FAILURE },
                                                       {},
                                               });
        stage_play("OnChange(a)", (Step[]){
                                          { "start", "start a", STATUS_RUNNING },
                                          { "a success", "", STATUS_SUCCESS },
                                          { "start", "", STATUS_RUNNING },
                                          { "halt", "", STATUS_HALTED },
                                          {},
                                  });
        stage_play("Sequence(OnChange(a), b)", (Step[]){
                                                       { "OnChange raises, start", "", STATUS_ERROR },
                                                       { "halt", "", STATUS_HALTED },
                                                       {},
                                               });
}

/* Another cause is not tried again. */
static void test_retry_on(void) {
        stage_play("RetryUntilSuccessful{num_attempts=3, retry_on=1}(a)",
                   (Step[]){
                           { "start", "start a", STATUS_RUNNING },
                           { "a failure", "", STATUS_FAILURE },
                           {},
                   });
        stage_play("RetryUntilSuccessful{num_attempts=3, retry_on=1}(a)",
                   (Step[]){
                           { "a matches, start", "start a", STATUS_RUNNING },
                           { "a failure", "start a", STATUS_RUNNING },
                           { "a failure", "start a", STATUS_RUNNING },
                           { "a failure", "", STATUS_FAILURE },
                           {},
                   });
        stage_play("RetryUntilSuccessful{num_attempts=3, initial=9, max=9, factor=1, retry_on=1}(a)",
                   (Step[]){
                           { "start", "start a", STATUS_RUNNING },
                           { "a matches, a failure", "arm 9 RetryUntilSuccessful", STATUS_RUNNING },
                           { "time", "start a", STATUS_RUNNING },
                           { "a success", "", STATUS_SUCCESS },
                           {},
                   });
}

/* Another cause is not caught. */
static void test_catch(void) {
        stage_play("TryCatch{catch=1}(a, b, c)", (Step[]){
                                                         { "b matches, start", "start a", STATUS_RUNNING },
                                                         { "a failure", "", STATUS_FAILURE },
                                                         {},
                                                 });
        stage_play("TryCatch{catch=1}(a, b, c)", (Step[]){
                                                         { "b matches, start", "start a", STATUS_RUNNING },
                                                         { "a success", "start b", STATUS_RUNNING },
                                                         { "b failure", "start c", STATUS_RUNNING },
                                                         { "c success", "", STATUS_FAILURE },
                                                         {},
                                                 });
        stage_play("TryCatch(a, b)", (Step[]){
                                             { "start", "start a", STATUS_RUNNING },
                                             { "a failure", "start b", STATUS_RUNNING },
                                             { "b success", "", STATUS_FAILURE },
                                             {},
                                     });
        stage_play("TryCatch{catch=1, catch_on_halt=1}(a!, b+)", (Step[]){
                                                                         { "start", "start a", STATUS_RUNNING },
                                                                         { "halt", "halt a", STATUS_RUNNING },
                                                                         { "a success", "start b", STATUS_HALTED },
                                                                         {},
                                                                 });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/waits/wait-for", test_wait_for);
        g_test_add_func("/waits/wait-for-timeout", test_wait_for_timeout);
        g_test_add_func("/waits/wait-for-reactively", test_wait_for_reactively);
        g_test_add_func("/waits/on-change", test_on_change);
        g_test_add_func("/waits/retry-on", test_retry_on);
        g_test_add_func("/waits/catch", test_catch);
        return g_test_run();
}
