/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests SubTree and ForEach, which have variables of their own. */

#include "stage.h"

static void test_subtree(void) {
        PLAY("SubTree(a)", { "start", "enter SubTree, start a", STATUS_RUNNING },
             { "a success", "leave SubTree success", STATUS_SUCCESS });
        PLAY("SubTree(a-)", { "start", "enter SubTree, start a, leave SubTree failure", STATUS_FAILURE });
        PLAY("SubTree(a)", { "start", "enter SubTree, start a", STATUS_RUNNING },
             { "a skipped", "leave SubTree skipped", STATUS_SKIPPED });
        PLAY("SubTree(a)", { "start", "enter SubTree, start a", STATUS_RUNNING }, { "halt", "halt a", STATUS_HALTED });
        PLAY("Repeat{num_cycles=2}(SubTree(a))", { "start", "enter SubTree, start a", STATUS_RUNNING },
             { "a success", "leave SubTree success, enter SubTree, start a", STATUS_RUNNING },
             { "a failure", "leave SubTree failure", STATUS_FAILURE });
}

static void test_subtree_that_cannot(void) {
        PLAY("Fallback(SubTree(a), b)", { "SubTree refuses, start", "enter SubTree, start b", STATUS_RUNNING },
             { "b success", "", STATUS_SUCCESS });
        PLAY("Fallback(SubTree(a), b)", { "SubTree spoils, start", "enter SubTree, start a", STATUS_RUNNING },
             { "a success", "leave SubTree success, start b", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
}

/* Not before what it has left behind is over. */
static void test_subtree_entered_anew(void) {
        PLAY("WhileDoElse(c?, SubTree(Finally(a, b)), x)",
             { "start, c success", "enter SubTree, start a", STATUS_RUNNING },
             { "c failure", "halt a, start b", STATUS_RUNNING }, { "c success", "", STATUS_RUNNING },
             { "b success", "enter SubTree, start a", STATUS_RUNNING },
             { "halt", "halt a, start b, release c", STATUS_RUNNING }, { "b success", "", STATUS_HALTED });
}

static void test_for_each(void) {
        PLAY("ForEach(a)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a success", "give a 1, start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        PLAY("ForEach(a)", { "ForEach elements 0, start", "list ForEach", STATUS_SUCCESS });
        PLAY("ForEach(a)", { "ForEach elements 4294967295, start", "list ForEach", STATUS_FAILURE });
        PLAY("ForEach(a)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("ForEach(a)", { "ForEach elements 1, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a skipped", "", STATUS_SUCCESS });
        PLAY("ForEach(a)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "halt", "halt a", STATUS_HALTED });
}

/* Who is through with one element takes the next. */
static void test_for_each_at_once(void) {
        PLAY("ForEach(a, b)",
             { "ForEach elements 4, start", "list ForEach, give a 0, start a, give b 1, start b", STATUS_RUNNING },
             { "b success", "give b 2, start b", STATUS_RUNNING }, { "b success", "give b 3, start b", STATUS_RUNNING },
             { "a success", "", STATUS_RUNNING }, { "b success", "", STATUS_SUCCESS });
        PLAY("ForEach(a, b, c)",
             { "ForEach elements 2, start", "list ForEach, give a 0, start a, give b 1, start b", STATUS_RUNNING },
             { "a success, b success", "", STATUS_SUCCESS });
        PLAY("ForEach(a, b!)",
             { "ForEach elements 3, start", "list ForEach, give a 0, start a, give b 1, start b", STATUS_RUNNING },
             { "a failure", "halt b", STATUS_RUNNING }, { "b success", "", STATUS_FAILURE });
}

static void test_for_each_max_failures(void) {
        PLAY("ForEach{max_failures=1}(a)",
             { "ForEach elements 3, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "give a 1, start a", STATUS_RUNNING }, { "a success", "give a 2, start a", STATUS_RUNNING },
             { "a failure", "", STATUS_FAILURE });
        PLAY("ForEach{max_failures=1}(a)",
             { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "give a 1, start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        PLAY("ForEach{max_failures=-1}(a)",
             { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "give a 1, start a", STATUS_RUNNING }, { "a failure", "", STATUS_SUCCESS });
        PLAY("ForEach{run_all=1}(a, b)",
             { "ForEach elements 3, start", "list ForEach, give a 0, start a, give b 1, start b", STATUS_RUNNING },
             { "a failure", "give a 2, start a", STATUS_RUNNING }, { "a success", "", STATUS_RUNNING },
             { "b success", "", STATUS_FAILURE });
        PLAY("ForEach{run_all=1, max_failures=1}(a)",
             { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "give a 1, start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
}

static void test_for_each_until_success(void) {
        PLAY("ForEach{until=1}(a)", { "ForEach elements 3, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "give a 1, start a", STATUS_RUNNING }, { "a success", "", STATUS_SUCCESS });
        PLAY("ForEach{until=1}(a)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a failure", "give a 1, start a", STATUS_RUNNING }, { "a failure", "", STATUS_FAILURE });
        PLAY("ForEach{until=1}(a)", { "ForEach elements 0, start", "list ForEach", STATUS_FAILURE });
        PLAY("ForEach{until=1}(a)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a skipped", "give a 1, start a", STATUS_RUNNING }, { "a failure", "", STATUS_FAILURE });
        PLAY("ForEach{until=1}(a)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "a skipped", "give a 1, start a", STATUS_RUNNING }, { "a skipped", "", STATUS_SKIPPED });
        PLAY("ForEach{until=1}(a, b!)",
             { "ForEach elements 3, start", "list ForEach, give a 0, start a, give b 1, start b", STATUS_RUNNING },
             { "a failure", "give a 2, start a", STATUS_RUNNING }, { "a success", "halt b", STATUS_RUNNING },
             { "b failure", "", STATUS_SUCCESS });
        PLAY("ForEach{until=1}(a-)", { "ForEach elements 2, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "nothing", "give a 1, start a", STATUS_FAILURE });
}

/* An element that takes no time lets others go first. */
static void test_for_each_quick(void) {
        PLAY("ForEach(a+)", { "ForEach elements 3, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "nothing", "give a 1, start a", STATUS_RUNNING }, { "nothing", "give a 2, start a", STATUS_SUCCESS });
        PLAY("ForEach(a+, b+)",
             { "ForEach elements 3, start", "list ForEach, give a 0, start a, give b 1, start b", STATUS_RUNNING },
             { "nothing", "give a 2, start a", STATUS_SUCCESS });
        PLAY("ForEach(Sequence(a, b+))",
             { "ForEach elements 2, start", "list ForEach, give Sequence 0, start a", STATUS_RUNNING },
             { "a success", "start b, give Sequence 1, start a", STATUS_RUNNING },
             { "a success", "start b", STATUS_SUCCESS });
}

/* The list is taken anew. */
static void test_for_each_again(void) {
        PLAY("Repeat{num_cycles=2}(ForEach(a))",
             { "ForEach elements 1, start", "list ForEach, give a 0, start a", STATUS_RUNNING },
             { "ForEach elements 0, a success", "list ForEach", STATUS_SUCCESS });
}

static void test_for_each_error(void) {
        PLAY("ForEach(a, x*)",
             { "ForEach elements 2, start", "list ForEach, give a 0, start a, give x 1, start x", STATUS_ERROR },
             { "halt", "halt a", STATUS_HALTED });
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/scopes/subtree", test_subtree);
        g_test_add_func("/scopes/subtree-that-cannot", test_subtree_that_cannot);
        g_test_add_func("/scopes/subtree-entered-anew", test_subtree_entered_anew);
        g_test_add_func("/scopes/for-each", test_for_each);
        g_test_add_func("/scopes/for-each-at-once", test_for_each_at_once);
        g_test_add_func("/scopes/for-each-max-failures", test_for_each_max_failures);
        g_test_add_func("/scopes/for-each-until-success", test_for_each_until_success);
        g_test_add_func("/scopes/for-each-quick", test_for_each_quick);
        g_test_add_func("/scopes/for-each-again", test_for_each_again);
        g_test_add_func("/scopes/for-each-error", test_for_each_error);
        return g_test_run();
}
