/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the limits of the manager, and trees that are passed to it as text. */

#include <errno.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "loading.h"
#include "manager-stage.h"

#define WAITS "{ \"type\": \"FakeAction\", \"name\": \"A\" }"
#define TREE(keys, root) "{ \"btd\": 1, " keys "\"root\": " root " }"

/* expected: the one message that there is, or NULL. */
static void reload(const ManagerStage *stage, const char *expected) {
        g_autoptr(GPtrArray) messages = loading_reload(stage->manager, stage->context);

        g_assert_cmpuint(messages->len, ==, expected ? 1 : 0);
        if (expected)
                g_assert_cmpstr(g_ptr_array_index(messages, 0), ==, expected);
}

static ManagerStage *stage_new(void) {
        static const Limits limits = { .max = { [LIMIT_TREES] = 2, [LIMIT_RUNS] = 4, [LIMIT_RUNS_OF_A_CALLER] = 2 } };
        ManagerStage *stage = manager_stage_new();

        manager_stage_open(stage, &limits, NULL);
        manager_stage_put(stage, "a.json", TREE("", WAITS));
        manager_stage_put(stage, "b.json", TREE("", "{ \"type\": \"FakeNow\" }"));
        reload(stage, NULL);
        return stage;
}

/* NULL: it is started. */
static Run *start_for(const ManagerStage *stage, uint32_t uid, const char *instance, const char *expected) {
        Caller who = { .uid = uid, .text = (char *) "a test" };
        g_autofree char *error = NULL;
        Run *run = NULL;
        int r = manager_start_for(stage->manager, "a", instance, NULL, &who, &run, &error);

        g_assert_cmpint(r, ==, expected ? MANAGER_LIMIT : 0);
        g_assert_cmpstr(error, ==, expected);
        manager_stage_turn(stage);
        return run;
}

#define MINE "2 trees are running for you already, which is the limit for one user; halt some first"
#define ALL "4 trees are running already, which is the limit; halt some first"

static void test_runs_of_a_caller(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        uint32_t other = geteuid() + 1000;
        Run *run = start_for(stage, other, "1", NULL);

        start_for(stage, other, "2", NULL);
        start_for(stage, other, "3", MINE);
        start_for(stage, other + 1, "3", NULL);
        run_halt(run, cause_new(CAUSE_HALTED, NULL, "enough"));
        manager_stage_turn(stage);
        start_for(stage, other, "4", NULL);
        start_for(stage, other, "5", MINE);

        /* Who may do everything is bound by what there can be in all. */
        start_for(stage, 0, "5", NULL);
        start_for(stage, 0, "6", ALL);
        start_for(stage, other + 1, "6", ALL);
}

static void test_variables(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *text = g_strnfill(blackboard_bytes_max(), 'x'), *error = NULL;
        g_autoptr(json_object) variables = json_object_new_object();
        Run *run;

        json_object_object_add(variables, "a", json_object_new_string(text));
        g_assert_cmpint(manager_start(stage->manager, "a", "", variables, "a test", &run, &error), ==, MANAGER_LIMIT);
        g_assert_cmpstr(error, ==, "the variables of the run would come to more than 8 MiB");
}

static void test_trees(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *message = g_strdup_printf("%s/c.json: error: not loaded: there are 2 trees already, which is "
                                                   "the limit; see --limit=trees= of btd(8)",
                                                   stage->directories[0]);

        manager_stage_put(stage, "c.json", TREE("", WAITS));
        reload(stage, message);
        g_assert_null(manager_tree(stage->manager, "c"));
        g_assert_nonnull(manager_tree(stage->manager, "b"));
}

static Run *start_text(const ManagerStage *stage, const char *name, const char *text, int r, const char *expected) {
        Caller who = { .text = (char *) "a test" };
        g_autofree char *error = NULL;
        Run *run = NULL;

        g_assert_cmpint(loading_start_text(stage->manager, stage->context, name, text, &who, &run, &error), ==, r);
        g_assert_cmpstr(error, ==, expected);
        manager_stage_turn(stage);
        return run;
}

/* A run like any other, of a tree that is not listed. */
static void test_text(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autoptr(GPtrArray) trees = NULL;
        Run *run = start_text(stage, "mine", TREE("", WAITS), 0, NULL);

        g_assert_cmpstr(run_id(run), ==, "mine.1");
        g_assert_cmpint(run_status(run), ==, STATUS_RUNNING);
        g_assert_true(manager_run(stage->manager, "mine.1") == run);
        g_assert_null(manager_tree(stage->manager, "mine"));
        trees = manager_trees(stage->manager);
        g_assert_cmpuint(trees->len, ==, 2);
        start_text(stage, "mine", TREE("", WAITS), MANAGER_ALREADY_RUNNING,
                   "tree 'mine' is already running as mine.1; give another --instance to run it twice");
        fake_end("A", STATUS_SUCCESS, NULL);
        manager_stage_turn(stage);
        g_assert_cmpint(run_status(run), ==, STATUS_SUCCESS);
        start_text(stage, "mine", TREE("", "{ \"type\": \"SubTree\", \"tree\": \"b\" }"), 0, NULL);
        g_assert_cmpint(run_status(manager_run(stage->manager, "mine.2")), ==, STATUS_SUCCESS);
}

static void test_text_refused(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        start_text(stage, "../x", TREE("", WAITS), -EINVAL,
                   "the name of a tree consists of letters, digits, '_' and '-', 100 at most");
        start_text(stage, "a", TREE("", WAITS), -EINVAL,
                   "there is a tree 'a' already; start that one, or give this another name");
        start_text(stage, "x", "{ \"btd\": 1,\n\"root\": 5 }", MANAGER_TREE_BROKEN,
                   "tree 'x' has errors: x.json:2:9: error: expected a node, such as {\"type\": \"Sequence\", ...}, "
                   "not 5");
        start_text(stage, "x", "{ \"btd\": 1, \"trees\": { \"y\": { \"root\": " WAITS " } } }", MANAGER_TREE_BROKEN,
                   "tree 'x' has no 'root'");
        start_text(stage, "x", TREE("\"restart\": \"always\", ", WAITS), MANAGER_TREE_BROKEN,
                   "tree 'x' cannot be started again, since it is in no file; leave out 'restart'");

        start_text(stage, "x", TREE("\"autostart\": 5, ", "5"), MANAGER_TREE_BROKEN,
                   "tree 'x' has 2 errors, which 'btctl validate' shows; the first one: x.json:1:26: error: autostart: "
                   "expected true or false, not 5");
        manager_stop(stage->manager);
        start_text(stage, "x", TREE("", WAITS), MANAGER_STOPPING, "the daemon is stopping and starts nothing any more");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/manager-limits/runs-of-a-caller", test_runs_of_a_caller);
        g_test_add_func("/manager-limits/variables", test_variables);
        g_test_add_func("/manager-limits/trees", test_trees);
        g_test_add_func("/manager-limits/text", test_text);
        g_test_add_func("/manager-limits/text-refused", test_text_refused);
        return g_test_run();
}
