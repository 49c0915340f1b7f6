/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests on_finished: what is started when a run has finished, and that it is started once. Units are started by runs of
 * a tree with StartUnit, which these tests do not have: tests/system/test_on_finished.py. */

#include <json-c/json_tokener.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "manager-stage.h"

#define PAGER                                                                                                          \
        "{ 'btd': 1, 'inputs': { 'text': 'string' }, 'on_finished': [{ 'result': 'failure', 'tree': 't' }], "          \
        "'root': { 'type': 'FakeAction', 'name': 'Page' } }"
#define PAGE                                                                                                           \
        "'on_finished': [{ 'result': ['failure', 'error'], 'tree': 'pager', 'inputs': { 'text': '{run} {result}: "     \
        "{cause}' } }]"

static void put(const ManagerStage *stage, const char *file, const char *text) {
        g_autofree char *json = g_strdup(text);

        manager_stage_put(stage, file, g_strdelimit(json, "'", '"'));
}

/* header: the keys at the top of the tree "t"; rules: the option of btd, or NULL. */
static ManagerStage *stage_new_with(const char *header, const char *rules, bool with_pager) {
        ManagerStage *stage = manager_stage_new();
        g_autofree char *option = g_strdup(rules);
        g_autofree char *text =
                g_strdup_printf("{ 'btd': 1, %s, 'root': { 'type': 'FakeAction', 'name': 'A' } }", header);

        put(stage, "t.json", text);
        if (with_pager)
                put(stage, "pager.json", PAGER);
        if (option)
                stage->on_finished = json_tokener_parse(g_strdelimit(option, "'", '"'));
        manager_stage_keep_state(stage);
        manager_stage_keep_runs(stage);
        manager_stage_open(stage, NULL, NULL);
        manager_load(stage->manager);
        return stage;
}

static void start_for(const ManagerStage *stage, uint32_t uid) {
        const TreeStart wanted = { .tree = "t", .instance = "" };
        const Caller who = { .uid = uid, .text = (char *) "a test" };
        g_auto(RunSummary) outcome = {};
        char *error = NULL;
        bool begun;
        int r;

        while ((r = manager_start_tree(stage->manager, &wanted, &who, &begun, &outcome, &error)) == MANAGER_NOT_YET) {
                g_clear_pointer(&error, g_free);
                g_main_context_iteration(stage->context, TRUE);
        }
        g_assert_cmpint(r, ==, 0);
        manager_stage_turn(stage);
}

static ManagerStage *stage_new(const char *header, bool with_pager) {
        return stage_new_with(header, NULL, with_pager);
}

static void start(const ManagerStage *stage, const char *tree) {
        g_autofree char *error = NULL;
        Run *run = NULL;
        int r;

        while ((r = manager_start(stage->manager, tree, "", NULL, "a test", &run, &error)) == MANAGER_NOT_YET) {
                g_clear_pointer(&error, g_free);
                g_main_context_iteration(stage->context, TRUE);
        }
        g_assert_cmpint(r, ==, 0);
        manager_stage_turn(stage);
}

static void end(const ManagerStage *stage, const char *node, Status status) {
        fake_end(node, status, status == STATUS_FAILURE ? "told to" : NULL);
        manager_stage_turn(stage);
}

static Run *await(const ManagerStage *stage, const char *id) {
        Run *run;

        while (!(run = runs_get(stage->manager->runs, id)))
                g_main_context_iteration(stage->context, TRUE);

        manager_stage_turn(stage);
        return run;
}

static void assert_text(const ManagerStage *stage, const char *id, const char *text) {
        g_autofree char *is = manager_describe_restart(stage->manager, runs_get(stage->manager->runs, id));

        g_assert_cmpstr(is, ==, text);
}

static void test_a_tree(void) {
        g_autoptr(ManagerStage) stage = stage_new(PAGE, true);
        const Run *run;

        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        run = await(stage, "pager.1");
        g_assert_cmpstr(run_starter(run), ==, "on_finished of t.1");
        g_assert_cmpstr(json_object_get_string(json_object_object_get(run_given(run), "text")), ==,
                        "t.1 failure: A: told to");
        assert_text(stage, "t.1", "then started pager (pager.1)");

        /* It has led to this, so it is not started again. */
        end(stage, "Page", STATUS_FAILURE);
        g_assert_null(runs_get(stage->manager->runs, "t.2"));
        assert_text(stage, "pager.1", NULL);
        assert_text(stage, "t.1", NULL);
}

static void test_other_results(void) {
        g_autoptr(ManagerStage) stage = stage_new(PAGE, true);
        char *error = NULL;

        start(stage, "t");
        end(stage, "A", STATUS_SUCCESS);
        assert_text(stage, "t.1", NULL);
        start(stage, "t");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.2", &(Caller){ .text = (char *) "UID 0" }, &error), ==, 0);
        manager_stage_turn(stage);
        assert_text(stage, "t.2", NULL);
        start(stage, "t");
        manager_stop(stage->manager);
        manager_stage_turn(stage);
        assert_text(stage, "t.3", NULL);
}

/* A user with limits has a quarter of the 1000 starts. */
static void test_shares(void) {
        g_autoptr(ManagerStage) stage = stage_new(
                "'on_finished': [{ 'result': 'failure', 'tree': 'pager@{run}', 'inputs': { 'text': 'x' } }]", true);
        uint32_t user = geteuid() + 1000;

        for (unsigned i = 1; i <= 252; i++) {
                g_autofree char *id = g_strdup_printf("t.%u", i), *text = NULL;

                start_for(stage, i <= 251 ? user : 0);
                end(stage, "A", STATUS_FAILURE);
                text = manager_describe_restart(stage->manager, runs_get(stage->manager->runs, id));
                g_assert_cmpint(text != NULL, ==, i != 251);
                if (i != 251) {
                        g_autofree char *pager = g_strdup_printf("pager.%u", MIN(i, 251));

                        await(stage, pager);
                }
        }
}

static void test_halted(void) {
        g_autoptr(ManagerStage) stage = stage_new(
                "'on_finished': [{ 'result': 'halted', 'tree': 'pager@{tree}', 'inputs': { 'text': 'x' } }]", true);
        char *error = NULL;

        start(stage, "t");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &(Caller){ .text = (char *) "UID 0" }, &error), ==, 0);
        g_assert_cmpstr(run_instance(await(stage, "pager.1")), ==, "t");

        /* Nobody has halted it: btd stops. */
        start(stage, "t");
        manager_stop(stage->manager);
        manager_stage_turn(stage);
        assert_text(stage, "t.2", NULL);
}

static void test_after_the_last_restart(void) {
        g_autoptr(ManagerStage) stage =
                stage_new(PAGE ", 'restart': 'on-failure', 'restart_backoff': { 'initial': '1ms' }, "
                               "'restart_limit': { 'burst': 1, 'interval': '1h' }",
                          true);

        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        await(stage, "t.2");
        end(stage, "A", STATUS_FAILURE);
        await(stage, "pager.1");
        g_assert_null(runs_get(stage->manager->runs, "pager.2"));
        assert_text(stage, "t.2",
                    "not restarted: it was restarted 1 time within 1h, which is the limit; then started "
                    "pager (pager.1)");
}

/* What a list of the trees says, also if the finished run is not listed any more. */
static void assert_waiting(const ManagerStage *stage, const char *text) {
        g_autoptr(GPtrArray) missing = manager_missing_trees(stage->manager);
        g_autofree char *is = manager_describe_waiting(stage->manager, "pager");

        g_assert_cmpstr(is, ==, text);
        g_assert_cmpuint(missing->len, ==, text != NULL);
        g_assert_cmpint(manager_tree_waits(stage->manager, "pager"), ==, text != NULL);
}

/* The tree comes back; or a user does not want it any more. */
static void test_missing(void) {
        g_autoptr(ManagerStage) stage = stage_new(PAGE, false);
        char *error = NULL;

        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        assert_text(stage, "t.1", "then starts pager (not yet: no tree 'pager'; 'btctl list' shows the trees)");
        assert_waiting(stage, "start after t.1 waits: no tree 'pager'; 'btctl list' shows the trees");
        g_assert_cmpint(manager_halt_run(stage->manager, "t.1", &(Caller){ .text = (char *) "UID 0" }, &error), ==, 0);
        assert_text(stage, "t.1", NULL);
        assert_waiting(stage, NULL);

        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        put(stage, "pager.json", PAGER);
        manager_load(stage->manager);
        start(stage, "t");
        end(stage, "A", STATUS_SUCCESS);
        await(stage, "pager.1");
        assert_waiting(stage, NULL);
}

/* btd is killed: before it starts the tree, and after. */
static void test_once(void) {
        g_autoptr(ManagerStage) stage = stage_new(PAGE, false);

        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        put(stage, "pager.json", PAGER);
        for (unsigned i = 0; i < 3; i++) {
                g_autofree char *error = NULL;

                manager_stage_open(stage, NULL, NULL);
                manager_load(stage->manager);
                g_assert_cmpint(manager_recover(stage->manager, &error), ==, 0);
                manager_autostart(stage->manager);
                await(stage, "pager.1");
                g_assert_null(runs_get(stage->manager->runs, "pager.2"));
        }
}

/* Rules for all trees follow those of the tree. A run that a rule has started starts none of them. */
static void test_option(void) {
        const char *rules = "[{ 'result': 'failure', 'tree': 'pager@{run}', 'inputs': { 'text': 'x' } }, "
                            "{ 'result': ['failure', 'error'], 'tree': 't' }]";
        g_autoptr(ManagerStage) stage = stage_new_with("'description': 'x'", rules, true), both = NULL;
        g_autofree char *text = NULL;

        start(stage, "t");
        end(stage, "A", STATUS_SUCCESS);
        assert_text(stage, "t.1", NULL);
        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        g_assert_cmpstr(run_instance(await(stage, "pager.1")), ==, "t.2");
        assert_text(stage, "t.2", "then started pager@t.2 (pager.1)");

        /* Its own rule leads back to t. */
        end(stage, "Page", STATUS_FAILURE);
        g_assert_null(runs_get(stage->manager->runs, "pager.2"));
        assert_text(stage, "pager.1", NULL);

        both = stage_new_with(PAGE, "[{ 'result': 'failure', 'unit': 'a@{run}.service' }]", true);
        start(both, "t");
        end(both, "A", STATUS_FAILURE);
        await(both, "pager.1");
        text = manager_describe_restart(both->manager, runs_get(both->manager->runs, "t.1"));
        g_assert_true(g_str_has_prefix(text, "then started pager (pager.1), starts a@t.1.service (not yet: "));
        end(both, "Page", STATUS_FAILURE);
        assert_text(both, "pager.1", NULL);
}

static void test_unit_without_systemd(void) {
        g_autoptr(ManagerStage) stage =
                stage_new("'on_finished': [{ 'result': 'failure', 'unit': 'a@{run}.service' }]", true);
        g_autofree char *text = NULL;

        start(stage, "t");
        end(stage, "A", STATUS_FAILURE);
        text = manager_describe_restart(stage->manager, runs_get(stage->manager->runs, "t.1"));
        g_assert_true(g_str_has_prefix(text, "then starts a@t.1.service (not yet: "));
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/followers/a-tree", test_a_tree);
        g_test_add_func("/followers/other-results", test_other_results);
        g_test_add_func("/followers/halted", test_halted);
        g_test_add_func("/followers/shares", test_shares);
        g_test_add_func("/followers/after-the-last-restart", test_after_the_last_restart);
        g_test_add_func("/followers/missing", test_missing);
        g_test_add_func("/followers/once", test_once);
        g_test_add_func("/followers/option", test_option);
        g_test_add_func("/followers/unit-without-systemd", test_unit_without_systemd);
        return g_test_run();
}
