/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests how the manager starts, halts and lists runs, with the message of each refusal. */

#include <errno.h>
#include <glib/gstdio.h>
#include <json-c/json_tokener.h>

#include "assert-cause.h"
#include "basic/cleanup.h"
#include "loading.h"
#include "manager-stage.h"
#include "once-reserved.h"
#include "runtime/runs.h"

static void on_run_added(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "+%s ", run_id(run));
}

static void on_run_halting(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "!%s ", run_id(run));
}

static void on_run_finished(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "=%s ", run_id(run));
}

static void on_run_removed(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "-%s ", run_id(run));
}

static void on_reloading(void *userdata) {
        g_string_append(((ManagerStage *) userdata)->events, "reloading ");
}

static void on_reloaded(const GPtrArray *messages, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "reloaded(%u) ", messages->len);
}

static void on_autostarted(void *userdata) {
        g_string_append(((ManagerStage *) userdata)->events, "autostarted ");
}

static void on_idle(void *userdata) {
        g_string_append(((ManagerStage *) userdata)->events, "idle ");
}

static const Caller test_caller = { .pid = 1234, .command = (char *) "test", .text = (char *) "UID 0 (test)" };

static const ManagerObserver observer = {
        .run_added = on_run_added,
        .run_halting = on_run_halting,
        .run_finished = on_run_finished,
        .run_removed = on_run_removed,
        .autostarted = on_autostarted,
        .reloading = on_reloading,
        .reloaded = on_reloaded,
        .idle = on_idle,
};

static void open_and_load(ManagerStage *stage) {
        manager_stage_open(stage, NULL, &observer);
        manager_load(stage->manager);
}

static ManagerStage *stage_new(void) {
        ManagerStage *stage = manager_stage_new();

        manager_stage_keep_state(stage);
        manager_stage_put(
                stage, "boot.json",
                "{ \"btd\": 1, \"autostart\": true, \"root\": { \"type\": \"FakeAction\", \"name\": \"A\" } }");
        manager_stage_put(stage, "quick.json", "{ \"btd\": 1, \"root\": { \"type\": \"FakeNow\", \"name\": \"Q\" } }");
        manager_stage_put(stage, "broken.json", "{ \"btd\": 2 }");
        open_and_load(stage);
        return stage;
}

static void assert_events(const ManagerStage *stage, const char *events) {
        g_assert_cmpstr(stage->events->str, ==, events);
        g_string_truncate(stage->events, 0);
}

static Run *start(const ManagerStage *stage, const char *tree, const char *instance) {
        g_autofree char *error = NULL;
        Run *run = NULL;

        g_assert_cmpint(once_reserved(stage->context, &error,
                                      manager_start(stage->manager, tree, instance, NULL, "a test", &run, &error)),
                        ==, 0);
        g_assert_null(error);
        manager_stage_turn(stage);
        return run;
}

static void assert_refused(const ManagerStage *stage, const char *tree, const char *instance, json_object *variables,
                           int r, const char *text) {
        g_autofree char *error = NULL;
        Run *run = NULL;

        g_assert_cmpint(once_reserved(stage->context, &error,
                                      manager_start(stage->manager, tree, instance, variables, "a test", &run, &error)),
                        ==, r);
        g_assert_cmpstr(error, ==, text);
        g_assert_null(run);
}

static void test_autostart(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        assert_events(stage, "");
        manager_autostart(stage->manager);
        while (stage->events->len == 0)
                g_main_context_iteration(stage->context, TRUE);
        assert_events(stage, "+boot.1 autostarted ");
        g_assert_cmpuint(runs_n_running(stage->manager->runs), ==, 1);
}

static void test_refusals(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autoptr(json_object) variables = json_object_new_object();
        g_autofree char *broken = g_strdup_printf("tree 'broken' has errors; correct its file, then reload: "
                                                  "%s/broken.json:1:10: error: ",
                                                  stage->directories[0]);
        g_autofree char *error = NULL;
        Run *run;

        start(stage, "boot", "");
        start(stage, "boot", "second");
        assert_refused(stage, "boto", "", NULL, MANAGER_NO_SUCH_TREE, "no tree 'boto'; did you mean 'boot'?");
        assert_refused(stage, "xyz", "", NULL, MANAGER_NO_SUCH_TREE, "no tree 'xyz'; 'btctl list' shows the trees");
        assert_refused(stage, "boot", "", NULL, MANAGER_ALREADY_RUNNING,
                       "tree 'boot' is already running as boot.1; give another instance to run it twice");
        assert_refused(stage, "boot", "second", NULL, MANAGER_ALREADY_RUNNING,
                       "instance 'second' of tree 'boot' is already running as boot.2");
        assert_refused(
                stage, "boot", "a b", NULL, -EINVAL,
                "'a b' cannot be the name of an instance; it consists of letters, digits, '_', '.', ':' and '-', 100 "
                "at most; another character is escaped, such as a space as '\\x20'");
        json_object_object_add(variables, "2x", NULL);
        assert_refused(stage, "boot", "third", variables, -EINVAL,
                       "'2x' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and '-', "
                       "255 at most)");

        g_assert_cmpint(manager_start(stage->manager, "broken", "", NULL, "a test", &run, &error), ==,
                        MANAGER_TREE_BROKEN);
        g_assert_true(g_str_has_prefix(error, broken));
}

static void test_masked_tree(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *path = g_build_filename(stage->directories[0], "off.json", NULL);
        g_autofree char *text = g_strdup_printf("tree 'off' is masked by %s; remove that to use it", path);
        g_autoptr(GPtrArray) messages = NULL;

        g_assert_cmpint(symlink("/dev/null", path), ==, 0);
        messages = loading_reload(stage->manager, stage->context);
        assert_events(stage, "reloading reloaded(1) ");
        assert_refused(stage, "off", "", NULL, MANAGER_NO_SUCH_TREE, text);
        g_assert_null(manager_tree(stage->manager, "off"));
}

/* token: NULL: of any. expected: the ids of the runs that are halted. */
static int halt_tree(const ManagerStage *stage, const char *tree, const char *token, const char *expected,
                     char **ret_error) {
        const TreeHalt halt = { .tree = tree, .token = token };
        g_autoptr(GString) ids = g_string_new(NULL);
        g_autoptr(GPtrArray) halted = NULL;
        unsigned cancelled = 7;
        int r = manager_halt_tree(stage->manager, &halt, &test_caller, &halted, &cancelled, ret_error);

        if (r < 0)
                return r;

        for (unsigned i = 0; i < halted->len; i++)
                g_string_append_printf(ids, "%s ", (const char *) halted->pdata[i]);
        g_assert_cmpstr(ids->str, ==, expected);
        g_assert_cmpuint(cancelled, ==, 0);
        return r;
}

static void test_halt(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *not_running = NULL, *no_run = NULL, *no_tree = NULL;
        char *none = NULL;
        Run *run = start(stage, "boot", "");

        assert_events(stage, "+boot.1 ");
        g_assert_null(run_cause(run));
        g_assert_cmpint(manager_halt_run(stage->manager, "boot.1", &test_caller, &none), ==, 0);
        manager_stage_turn(stage);
        assert_events(stage, "!boot.1 =boot.1 ");
        g_assert_cmpstr(run_cause(run), ==, "halted by UID 0 (test)");
        assert_cause(run_cause_chain(run), "halted", "{\"uid\":0,\"pid\":1234,\"command\":\"test\"}");

        g_assert_cmpint(manager_halt_run(stage->manager, "boot.1", &test_caller, &not_running), ==,
                        MANAGER_NOT_RUNNING);
        g_assert_cmpstr(not_running, ==, "run 'boot.1' is not running any more: halted");
        g_assert_cmpint(manager_halt_run(stage->manager, "boot.2", &test_caller, &no_run), ==, MANAGER_NO_SUCH_RUN);
        g_assert_cmpstr(no_run, ==, "no run 'boot.2'; did you mean 'boot.1'?");
        g_assert_cmpint(halt_tree(stage, "boto", NULL, NULL, &no_tree), ==, MANAGER_NO_SUCH_TREE);
        g_assert_cmpint(halt_tree(stage, "boot", NULL, "", &none), ==, 0);

        start(stage, "boot", "");
        g_assert_cmpint(halt_tree(stage, "boot", "another", "", &none), ==, 0);
        g_assert_cmpint(halt_tree(stage, "boot", NULL, "boot.2 ", &none), ==, 0);
        manager_stage_turn(stage);
        assert_events(stage, "-boot.1 +boot.2 !boot.2 =boot.2 ");
}

static void test_a_tree_that_is_gone(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autoptr(GPtrArray) messages = NULL;
        char *error = NULL;

        start(stage, "boot", "");
        manager_stage_remove(stage, "boot.json");
        messages = loading_reload(stage->manager, stage->context);
        g_assert_null(manager_tree(stage->manager, "boot"));
        g_assert_cmpuint(runs_n_running(stage->manager->runs), ==, 1);
        g_assert_cmpint(halt_tree(stage, "boot", NULL, "boot.1 ", &error), ==, 0);
}

static void on_reload_done(const GPtrArray *messages, void *userdata) {
        g_string_append(userdata, messages ? "done " : "refused ");
}

/* Those that are asked for while one is under way are done together, after it: it may have seen the files before. */
static void test_reloads_at_once(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        manager_stage_put(stage, "new.json", "{ \"btd\": 1, \"root\": { \"type\": \"FakeNow\" } }");
        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        manager_reload_drop(manager_reload(stage->manager, on_reload_done, stage->events));
        (void) manager_reload(stage->manager, NULL, NULL);
        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        assert_events(stage, "reloading ");
        while (!strstr(stage->events->str, "done done"))
                g_main_context_iteration(stage->context, TRUE);
        assert_events(stage, "reloaded(1) done reloading reloaded(1) done done ");
        g_assert_nonnull(manager_tree(stage->manager, "new"));
}

/* Until it is done, all is as it was. */
static void test_start_while_reloading(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        const Run *run;
        GString *events = stage->events;

        start(stage, "boot", "first");
        assert_events(stage, "+boot.1 ");
        manager_stage_remove(stage, "boot.json");
        (void) manager_reload(stage->manager, on_reload_done, events);
        g_assert_nonnull(manager_tree(stage->manager, "boot"));
        {
                g_autofree char *error = NULL;
                Run *started = NULL;

                g_assert_cmpint(manager_start(stage->manager, "boot", "", NULL, "a test", &started, &error), ==, 0);
                run = started;
        }
        while (!strstr(events->str, "done"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_null(manager_tree(stage->manager, "boot"));
        g_assert_cmpint(run_status(run), ==, STATUS_RUNNING);
        assert_events(stage, "reloading +boot.2 reloaded(1) done ");
}

static void on_text_started(const RunSummary *outcome, bool begun, int r, const char *error, void *userdata) {
        g_string_append_printf(userdata, "%s%s ", outcome ? outcome->run : error, outcome && !begun ? "?" : "");
}

static void begin_text_of(const ManagerStage *stage, const char *name, const char *text, TextStart **ret_start) {
        const TreeStart start = { .tree = name };
        g_autofree char *error = NULL;

        g_assert_cmpint(manager_start_text(stage->manager, &start, text, &test_caller, on_text_started, stage->events,
                                           ret_start, &error),
                        ==, 0);
}

static void begin_text(const ManagerStage *stage, const char *name, TextStart **ret_start) {
        begin_text_of(stage, name, "{ \"btd\": 1, \"root\": { \"type\": \"FakeAction\" } }", ret_start);
}

static void test_stop_while_loading(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        TextStart *start;

        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        begin_text(stage, "one", &start);
        manager_stop(stage->manager);
        assert_events(stage, "reloading refused refused btd is stopping and starts nothing any more ");
        while (!strstr(stage->events->str, "idle"))
                g_main_context_iteration(stage->context, TRUE);
        assert_events(stage, "idle ");
}

/* The manager goes while all of it is under way. */
static void test_free_while_loading(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        TextStart *start;

        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        (void) manager_reload(stage->manager, on_reload_done, stage->events);
        begin_text(stage, "one", &start);
        g_clear_pointer(&stage->manager, manager_free);
        assert_events(stage, "reloading ");
}

static void test_texts_at_once(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        TextStart *start, *dropped;

        for (unsigned i = 0; i < 9; i++) {
                g_autofree char *name = g_strdup_printf("text%u", i);

                begin_text(stage, name, &start);
        }
        begin_text(stage, "dropped", &dropped);
        begin_text(stage, "taken", &start);
        text_start_drop(dropped);
        text_start_drop(NULL);
        manager_stage_put(stage, "taken.json", "{ \"btd\": 1, \"root\": { \"type\": \"FakeNow\" } }");
        manager_load(stage->manager);
        while (runs_n_running(stage->manager->runs) < 9 || !strstr(stage->events->str, "there is a tree"))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_nonnull(strstr(stage->events->str,
                                "there is a tree 'taken' already; start that one, or give this another name"));
        g_assert_null(strstr(stage->events->str, "dropped"));
}

/* What the records of their runs begin with takes long, and is made beside the loop: for each run, however it is
 * started. */
static void test_large_trees(void) {
        g_autoptr(ManagerStage) stage = manager_stage_new();
        g_autofree char *spaces = g_strnfill(64 << 10, ' ');
        g_autofree char *large = g_strconcat(
                "{ \"btd\": 1, \"autostart\": true, \"root\": { \"type\": \"FakeAction\" } }", spaces, NULL);
        TextStart *text;

        manager_stage_keep_runs(stage);
        manager_stage_put(stage, "large.json", large);
        open_and_load(stage);
        for (unsigned i = 0; i < 3; i++) {
                g_autofree char *instance = g_strdup_printf("i%u", i), *error = NULL;
                Run *run = NULL;
                int r;

                do {
                        g_clear_pointer(&error, g_free);
                        g_main_context_iteration(stage->context, FALSE);
                        r = manager_start(stage->manager, "large", instance, NULL, "a test", &run, &error);
                } while (r == MANAGER_NOT_YET && !strstr(error, "the run record is being prepared; try again"));
                g_assert_cmpint(r, ==, MANAGER_NOT_YET);
                start(stage, "large", instance);
        }

        assert_events(stage, "+large.1 +large.2 +large.3 ");
        manager_autostart(stage->manager);
        begin_text_of(stage, "text", large, &text);
        while (runs_n_running(stage->manager->runs) < 5)
                g_main_context_iteration(stage->context, TRUE);
        g_assert_nonnull(strstr(stage->events->str, "+large.4 autostarted"));
        g_assert_nonnull(strstr(stage->events->str, "+text.1 text.1"));
}

static void test_last_ones_stay(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        start(stage, "quick", "");
        start(stage, "quick", "");
        assert_events(stage, "+quick.1 =quick.1 -quick.1 +quick.2 =quick.2 ");

        for (unsigned i = 0; i < 100; i++) {
                g_autofree char *instance = g_strdup_printf("i%u", i);

                start(stage, "quick", instance);
        }
        g_assert_cmpuint(runs_list(stage->manager->runs)->len, ==, RUNS_FINISHED_MAX);
        g_assert_null(runs_get(stage->manager->runs, "quick.2"));
        g_assert_nonnull(runs_get(stage->manager->runs, "quick.102"));
}

/* Ids are not used again by the next daemon. One that was killed leaves a gap: it had reserved more than it used. */
static void test_numbers_go_on(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.1");
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.2");
        manager_abandon(stage->manager);
        open_and_load(stage);
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.3");
        open_and_load(stage);
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.19");
        g_assert_cmpstr(run_id(start(stage, "boot", "")), ==, "boot.1");
}

/* The state directory cannot be written: the numbers are kept until the next boot. */
static void test_numbers_without_a_disk(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autofree char *obstacle = g_build_filename(stage->state, "numbers.new", NULL);

        manager_stage_keep_runs(stage);
        open_and_load(stage);
        g_assert_cmpint(g_mkdir(obstacle, 0700), ==, 0);
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.1");
        open_and_load(stage);
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.17");
        g_assert_cmpint(g_rmdir(obstacle), ==, 0);
        open_and_load(stage);
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.33");
        manager_abandon(stage->manager);
        open_and_load(stage);
        g_assert_cmpstr(run_id(start(stage, "quick", "")), ==, "quick.34");
}

static void test_limit(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        manager_stage_put(stage, "wait.json",
                          "{ \"btd\": 1, \"root\": { \"type\": \"Delay\", \"delay\": \"1h\", \"child\": { \"type\": "
                          "\"FakeNow\" } } }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        for (unsigned i = 0; i < limits_default.max[LIMIT_RUNS]; i++) {
                g_autofree char *instance = g_strdup_printf("i%u", i);

                start(stage, "wait", instance);
        }
        assert_refused(stage, "wait", "more", NULL, MANAGER_LIMIT,
                       "the limit 'runs' (1024) is reached; halt a run first");
}

static void test_stop(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        const Run *run = start(stage, "boot", "");

        manager_stop(stage->manager);
        manager_stop(stage->manager);
        manager_stage_turn(stage);
        assert_events(stage, "+boot.1 !boot.1 =boot.1 idle ");
        g_assert_cmpstr(run_cause(run), ==, "btd is stopping");
        g_assert_true(stage->manager->stopping);
        assert_refused(stage, "quick", "", NULL, MANAGER_STOPPING, "btd is stopping and starts nothing any more");
}

static void test_stop_when_idle(void) {
        g_autoptr(ManagerStage) stage = stage_new();

        manager_stop(stage->manager);
        assert_events(stage, "");
        manager_stage_turn(stage);
        assert_events(stage, "idle ");
}

/* Takes the error. */
static void assert_answer(int is, int r, char *error, const char *text) {
        g_assert_cmpint(is, ==, r);
        g_assert_cmpstr(error, ==, text);
        g_free(error);
}

#define ASSERT_ANSWER(r, text, function, ...)                                                                          \
        do {                                                                                                           \
                char *error_ = NULL;                                                                                   \
                int r_ = function(stage->manager, __VA_ARGS__, &test_caller, &error_);                                 \
                assert_answer(r_, r, error_, text);                                                                    \
        } while (0)

static void test_control(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autoptr(json_object) values = json_tokener_parse("{ \"2x\": 1 }");

        start(stage, "boot", "");
        ASSERT_ANSWER(MANAGER_NO_SUCH_RUN, "no run 'boot.2'; did you mean 'boot.1'?", manager_pause, "boot.2");
        ASSERT_ANSWER(MANAGER_NOT_PAUSED, "run 'boot.1' is not paused; pause it first", manager_resume, "boot.1");
        ASSERT_ANSWER(MANAGER_NOT_PAUSED, "run 'boot.1' is not paused; pause it first", manager_step, "boot.1");
        ASSERT_ANSWER(0, NULL, manager_pause, "boot.1");
        ASSERT_ANSWER(MANAGER_NOTHING_HAPPENED,
                      "run 'boot.1' is waiting, so there is nothing to step; 'btctl status' shows what it waits for",
                      manager_step, "boot.1");
        ASSERT_ANSWER(-EINVAL, "run 'boot.1' has no node 1; its nodes are 0 to 0", manager_set_breakpoint, "boot.1", 1,
                      true);
        ASSERT_ANSWER(-EINVAL, "run 'boot.1' has no node 7; its nodes are 0 to 0", manager_force, "boot.1", 7,
                      STATUS_SUCCESS);
        ASSERT_ANSWER(-EINVAL, "a node can be forced to success, failure or skipped", manager_force, "boot.1", 0,
                      STATUS_HALTED);
        ASSERT_ANSWER(-EINVAL,
                      "'2x' cannot be the name of a variable (a letter or '_', then letters, digits, '_' and '-', "
                      "255 at most)",
                      manager_set_variables, "boot.1", values);
        ASSERT_ANSWER(0, NULL, manager_resume, "boot.1");

        ASSERT_ANSWER(0, NULL, manager_halt_run, "boot.1");
        ASSERT_ANSWER(MANAGER_NOT_RUNNING, "run 'boot.1' is being halted", manager_pause, "boot.1");
        assert_refused(stage, "boot", "", NULL, MANAGER_ALREADY_RUNNING,
                       "tree 'boot' is already halting as boot.1; give another instance to run it twice");
        manager_stage_turn(stage);
        ASSERT_ANSWER(MANAGER_NOT_RUNNING, "run 'boot.1' is not running any more: halted", manager_force, "boot.1", 0,
                      STATUS_SUCCESS);
}

/* Variables that a run is started with are those that the tree declares. */
static void test_inputs(void) {
        g_autoptr(ManagerStage) stage = stage_new();
        g_autoptr(json_object) wrong = json_tokener_parse("{ \"unit\": 5 }"),
                               unknown = json_tokener_parse("{ \"unit\": \"cam\", \"tires\": 1 }");

        manager_stage_put(
                stage, "in.json",
                "{ \"btd\": 1, \"inputs\": { \"unit\": \"string\", \"tries\": { \"type\": \"int\", \"default\": 1 } }, "
                "\"root\": { \"type\": \"FakeAction\", \"text\": \"{unit} {tries}\" } }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        assert_refused(stage, "in", "", NULL, MANAGER_MISSING_INPUT, "tree 'in': the input 'unit' (string) is missing");
        assert_refused(stage, "in", "", wrong, -EINVAL, "tree 'in': expected a string for 'unit', but got 5");
        assert_refused(stage, "in", "", unknown, -EINVAL, "tree 'in': no input 'tires'; did you mean 'tries'?");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/manager/autostart", test_autostart);
        g_test_add_func("/manager/refusals", test_refusals);
        g_test_add_func("/manager/masked-tree", test_masked_tree);
        g_test_add_func("/manager/halt", test_halt);
        g_test_add_func("/manager/a-tree-that-is-gone", test_a_tree_that_is_gone);
        g_test_add_func("/manager/reloads-at-once", test_reloads_at_once);
        g_test_add_func("/manager/start-while-reloading", test_start_while_reloading);
        g_test_add_func("/manager/stop-while-loading", test_stop_while_loading);
        g_test_add_func("/manager/free-while-loading", test_free_while_loading);
        g_test_add_func("/manager/texts-at-once", test_texts_at_once);
        g_test_add_func("/manager/large-trees", test_large_trees);
        g_test_add_func("/manager/last-ones-stay", test_last_ones_stay);
        g_test_add_func("/manager/numbers-go-on", test_numbers_go_on);
        g_test_add_func("/manager/numbers-without-a-disk", test_numbers_without_a_disk);
        g_test_add_func("/manager/limit", test_limit);
        g_test_add_func("/manager/stop", test_stop);
        g_test_add_func("/manager/control", test_control);
        g_test_add_func("/manager/inputs", test_inputs);
        g_test_add_func("/manager/stop-when-idle", test_stop_when_idle);
        return g_test_run();
}
