/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests trees with "restart", with short pauses that the tests really wait for. */

#include <json-c/json_tokener.h>

#include "basic/cleanup.h"
#include "loading.h"
#include "manager-stage.h"

static void on_run_added(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "+%s ", run_id(run));
}

static void on_run_finished(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "=%s ", run_id(run));
}

static void on_restart_changed(Run *run, void *userdata) {
        g_string_append_printf(((ManagerStage *) userdata)->events, "off:%s ", run_id(run));
}

static void on_idle(void *userdata) {
        g_string_append(((ManagerStage *) userdata)->events, "idle ");
}

static const ManagerObserver observer = {
        .run_added = on_run_added,
        .run_finished = on_run_finished,
        .restart_changed = on_restart_changed,
        .idle = on_idle,
};

/* header: what stands at the top, with ' for ". The tree "t" runs until the test ends it. */
static ManagerStage *stage_new(const char *header) {
        ManagerStage *stage = manager_stage_new();
        g_autofree char *text = g_strdup_printf(
                "{ 'btd': 1, %s, 'blackboard': { 'who': 'me' }, 'root': { 'type': 'FakeAction', 'name': 'A' } }",
                header);

        manager_stage_put(stage, "t.json", g_strdelimit(text, "'", '"'));
        manager_stage_open(stage, NULL, &observer);
        manager_load(stage->manager);
        return stage;
}

static Run *start(const ManagerStage *stage, const char *instance, json_object *variables) {
        g_autofree char *error = NULL;
        Run *run = NULL;

        g_assert_cmpint(manager_start(stage->manager, "t", instance, variables, "a test", &run, &error), ==, 0);
        g_assert_null(error);
        manager_stage_turn(stage);
        return run;
}

static void end(const ManagerStage *stage, Status status) {
        fake_end("A", status, status == STATUS_FAILURE ? "told to" : NULL);
        manager_stage_turn(stage);
}

/* Until the run is there that follows. */
static Run *await(const ManagerStage *stage, const char *id) {
        Run *run;

        while (!(run = runs_get(stage->manager->runs, id)))
                g_main_context_iteration(stage->context, TRUE);

        manager_stage_turn(stage);
        return run;
}

static void assert_events(const ManagerStage *stage, const char *events) {
        g_assert_cmpstr(stage->events->str, ==, events);
        g_string_truncate(stage->events, 0);
}

static void assert_restart(const ManagerStage *stage, const char *id, const char *text) {
        g_autofree char *is = manager_describe_restart(stage->manager, runs_get(stage->manager->runs, id));

        g_assert_cmpstr(is, ==, text);
}

/* However much of the time has passed. */
static void assert_restarts(const ManagerStage *stage, const char *id, const char *attempt) {
        g_autofree char *is = manager_describe_restart(stage->manager, runs_get(stage->manager->runs, id));

        g_assert_nonnull(is);
        g_assert_true(g_str_has_prefix(is, "restarts in "));
        g_assert_true(g_str_has_suffix(is, attempt));
}

#define QUICK "'restart_backoff': { 'initial': '1ms' }"
#define SLOW "'restart_backoff': { 'initial': '1h', 'max': '1h' }"

static void test_on_failure(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'on-failure', " QUICK);
        g_autoptr(json_object) variables = json_tokener_parse("{ \"who\": \"you\" }");
        const Run *run;

        start(stage, "left", variables);
        end(stage, STATUS_FAILURE);
        run = await(stage, "t.2");
        g_assert_cmpstr(run_instance(run), ==, "left");
        g_assert_true(json_object_equal(run_given(run), variables));
        assert_restart(stage, "t.2", NULL);
        assert_events(stage, "+t.1 =t.1 +t.2 ");
        end(stage, STATUS_SUCCESS);
        assert_events(stage, "=t.2 ");
        assert_restart(stage, "t.2", NULL);
}

static void test_always(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " QUICK);

        start(stage, "", NULL);
        end(stage, STATUS_SUCCESS);
        await(stage, "t.2");
        end(stage, STATUS_SKIPPED);
        await(stage, "t.3");
        end(stage, STATUS_FAILURE);
        await(stage, "t.4");
        assert_events(stage, "+t.1 =t.1 +t.2 =t.2 +t.3 =t.3 +t.4 ");
}

static void test_no(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'no', " QUICK);

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        assert_restart(stage, "t.1", NULL);
        assert_events(stage, "+t.1 =t.1 ");
}

static void test_limit(void) {
        g_autoptr(ManagerStage) stage =
                stage_new("'restart': 'on-failure', " QUICK ", 'restart_limit': { 'burst': 2, 'interval': '1h' }");

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        await(stage, "t.2");
        end(stage, STATUS_FAILURE);
        await(stage, "t.3");
        end(stage, STATUS_FAILURE);
        assert_restart(stage, "t.3", "not restarted: it was restarted 2 times within 1h, which is the limit");

        /* One who starts it begins to count anew. */
        start(stage, "", NULL);
        assert_restart(stage, "t.4", NULL);
        end(stage, STATUS_FAILURE);
        await(stage, "t.5");
}

static void test_limit_of_one(void) {
        g_autoptr(ManagerStage) stage =
                stage_new("'restart': 'on-failure', " QUICK ", 'restart_limit': { 'burst': 1, 'interval': '1h' }");

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        await(stage, "t.2");
        end(stage, STATUS_FAILURE);
        assert_restart(stage, "t.2", "not restarted: it was restarted 1 time within 1h, which is the limit");
}

static void test_old_restarts_do_not_count(void) {
        g_autoptr(ManagerStage) stage =
                stage_new("'restart': 'on-failure', " QUICK ", 'restart_limit': { 'burst': 1, 'interval': '1us' }");

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        await(stage, "t.2");
        end(stage, STATUS_FAILURE);
        await(stage, "t.3");
}

static void test_pause(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'on-failure', " SLOW);

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        assert_restarts(stage, "t.1", " (attempt 1 of 5)");
        manager_stage_turn(stage);
        assert_events(stage, "+t.1 =t.1 ");
}

/* Nothing runs. Returns the number of restarts that are cancelled. */
static unsigned halt_tree(const ManagerStage *stage) {
        const TreeHalt halt = { .tree = "t" };
        g_autoptr(GPtrArray) halted = NULL;
        g_autofree char *error = NULL;
        unsigned cancelled = 7;

        g_assert_cmpint(manager_halt_tree(stage->manager, &halt, &(Caller){ .text = (char *) "UID 0" }, &halted,
                                          &cancelled, &error),
                        ==, 0);
        g_assert_cmpuint(halted->len, ==, 0);
        return cancelled;
}

static void test_halt_calls_it_off(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " SLOW);
        g_autofree char *not_running = NULL;
        char *error = NULL;

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &(Caller){ .text = (char *) "UID 0" }, &error), ==, 0);
        assert_events(stage, "+t.1 =t.1 off:t.1 ");
        assert_restart(stage, "t.1", "not restarted: halted by UID 0");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &(Caller){ .text = (char *) "UID 0" }, &not_running),
                        ==, MANAGER_NOT_RUNNING);

        start(stage, "", NULL);
        end(stage, STATUS_SUCCESS);
        g_assert_cmpuint(halt_tree(stage), ==, 1);
        assert_events(stage, "+t.2 =t.2 off:t.2 ");
        g_assert_cmpuint(halt_tree(stage), ==, 0);
        assert_restart(stage, "t.2", "not restarted: halted by UID 0");
}

static void test_what_was_halted_stays(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " QUICK);
        char *error = NULL;

        start(stage, "", NULL);
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &(Caller){ .text = (char *) "UID 0" }, &error), ==, 0);
        manager_stage_turn(stage);
        assert_restart(stage, "t.1", NULL);
        assert_events(stage, "+t.1 =t.1 ");
}

static void test_start_instead(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " SLOW);

        start(stage, "", NULL);
        end(stage, STATUS_FAILURE);
        start(stage, "", NULL);
        assert_events(stage, "+t.1 =t.1 +t.2 ");
        end(stage, STATUS_FAILURE);
        assert_restarts(stage, "t.2", " (attempt 1 of 5)");
}

static void test_instances_are_apart(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " SLOW);

        start(stage, "a", NULL);
        end(stage, STATUS_FAILURE);
        start(stage, "b", NULL);
        assert_restarts(stage, "t.1", " (attempt 1 of 5)");
        assert_restart(stage, "t.2", NULL);
}

static void test_stop(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " SLOW);

        start(stage, "a", NULL);
        end(stage, STATUS_FAILURE);
        start(stage, "b", NULL);
        manager_stop(stage->manager);
        assert_restart(stage, "t.1", NULL);
        manager_stage_turn(stage);
        assert_events(stage, "+t.1 =t.1 +t.2 off:t.1 =t.2 idle ");
        assert_restart(stage, "t.2", NULL);
}

static void wait_for_restart(const ManagerStage *stage, const char *expected) {
        for (;;) {
                g_autofree char *text = manager_describe_restart(stage->manager, runs_get(stage->manager->runs, "t.1"));

                if (text && g_str_has_prefix(text, expected))
                        return;
                g_main_context_iteration(stage->context, TRUE);
        }
}

/* It comes back, as in the middle of an upgrade. */
static void test_a_tree_that_is_gone(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'always', " QUICK);
        g_autoptr(GPtrArray) missing = NULL;
        g_autofree char *waiting = NULL;

        start(stage, "", NULL);
        manager_stage_remove(stage, "t.json");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        end(stage, STATUS_FAILURE);
        wait_for_restart(stage, "restart waits: no tree 't'; 'btctl list' shows the trees");
        missing = manager_missing_trees(stage->manager);
        g_assert_cmpuint(missing->len, ==, 1);
        g_assert_cmpstr(missing->pdata[0], ==, "t");
        waiting = manager_describe_waiting(stage->manager, "t");
        g_assert_null(waiting); /* the run has the text */

        manager_stage_put(stage, "t.json", "{");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        wait_for_restart(stage, "restart waits: tree 't' has errors; correct its file, then reload: ");

        manager_stage_put(stage, "t.json", "{ \"btd\": 1, \"root\": { \"type\": \"FakeAction\", \"name\": \"A\" } }");
        g_ptr_array_unref(loading_reload(stage->manager, stage->context));
        while (!runs_get(stage->manager->runs, "t.2"))
                g_main_context_iteration(stage->context, TRUE);
        assert_events(stage, "+t.1 =t.1 off:t.1 off:t.1 +t.2 ");
        g_assert_cmpuint(restarts_count(stage->manager->restarts), ==, 0);
}

/* There may be no more runs: when one ends, the restart is made up for, with the same owner and token. */
static void test_no_room(void) {
        g_autoptr(ManagerStage) stage = stage_new("'restart': 'on-failure', " QUICK);
        const Caller who = { .uid = 1000, .text = (char *) "UID 1000" }, root = { .text = (char *) "UID 0" };
        const TreeStart mine = { .tree = "t", .instance = "", .token = "mine" },
                        other = { .tree = "t", .instance = "b" };
        g_auto(RunSummary) one = {}, two = {};
        Limits limits = limits_default;
        bool begun;
        Run *again;

        limits.max[LIMIT_RUNS] = 1;
        manager_stage_open(stage, &limits, &observer);
        manager_load(stage->manager);
        g_assert_cmpint(manager_start_tree(stage->manager, &mine, &who, &begun, &one, NULL), ==, 0);
        manager_stage_turn(stage);
        fake_end("A", STATUS_FAILURE, "told to");
        while (run_status(runs_get(stage->manager->runs, "t.1")) == STATUS_RUNNING)
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpint(manager_start_tree(stage->manager, &other, &root, &begun, &two, NULL), ==, 0);
        wait_for_restart(stage, "restart waits: the limit 'runs' (1) is reached; halt a run first");

        end(stage, STATUS_SUCCESS);
        while (!(again = runs_get(stage->manager->runs, "t.3")))
                g_main_context_iteration(stage->context, TRUE);
        g_assert_cmpuint(run_caller(again), ==, 1000);
        g_assert_cmpstr(run_token(again), ==, "mine");
}

/* The limits of what a file may say. */
static void test_policies(void) {
        static const struct {
                const char *header, *error;
        } cases[] = {
                { "'restart': 'sometimes'",
                  "1:24: error: restart: \"sometimes\" is none of \"no\", \"on-failure\", \"always\"" },
                { "'restart': true",
                  "1:24: error: restart: expected one of \"no\", \"on-failure\", \"always\", not true" },
                { "'restart_backoff': {}", "1:32: error: restart_backoff: 'initial' is missing: the first delay" },
                { "'restart_limit': { 'burst': 0 }",
                  "1:41: error: restart_limit.burst: 0 is out of range; it must be between 1 and 1000" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(ManagerStage) stage = stage_new(cases[i].header);
                const Diagnostics *diagnostics = manager_tree(stage->manager, "t")->diagnostics;
                g_autofree char *text = diagnostics_format(diagnostics, 0);

                g_assert_cmpstr(text + strlen(stage->directories[0]) + strlen("/t.json:"), ==, cases[i].error);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/restarts/on-failure", test_on_failure);
        g_test_add_func("/restarts/always", test_always);
        g_test_add_func("/restarts/no", test_no);
        g_test_add_func("/restarts/limit", test_limit);
        g_test_add_func("/restarts/limit-of-one", test_limit_of_one);
        g_test_add_func("/restarts/old-ones-do-not-count", test_old_restarts_do_not_count);
        g_test_add_func("/restarts/pause", test_pause);
        g_test_add_func("/restarts/halt-calls-it-off", test_halt_calls_it_off);
        g_test_add_func("/restarts/what-was-halted-stays", test_what_was_halted_stays);
        g_test_add_func("/restarts/start-instead", test_start_instead);
        g_test_add_func("/restarts/instances-are-apart", test_instances_are_apart);
        g_test_add_func("/restarts/stop", test_stop);
        g_test_add_func("/restarts/a-tree-that-is-gone", test_a_tree_that_is_gone);
        g_test_add_func("/restarts/no-room", test_no_room);
        g_test_add_func("/restarts/policies", test_policies);
        return g_test_run();
}
