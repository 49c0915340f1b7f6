/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests the text that says what a running leaf waits for. */

#include <string.h>

#include "run-stage.h"

/* Until it has been told to stop. */
static void await_halt(const RunStage *stage, const char *name) {
        while (fake_halts(name) == 0)
                g_main_context_iteration(stage->context, TRUE);
}

static void test_being_stopped(void) {
        static const char *const texts[][2] = {
                { "", "being stopped" },
                { "for you", "waits for for you; being stopped" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *root = g_strdup_printf(
                        "{ 'type': 'FakeAction', 'name': 'A', 'stubborn': true, 'timeout': '1ms', 'text': '%s' }",
                        texts[i][0]);
                g_autoptr(RunStage) stage = run_stage_new(root);

                run_stage_start(stage);
                await_halt(stage, "A");
                run_stage_assert_node(stage, 0, STATUS_RUNNING, texts[i][1]);
                fake_end("A", STATUS_FAILURE, NULL);
                run_stage_await_finish(stage);
        }
}

/* How long is left is not to be foreseen. */
static void test_timeout(void) {
        static const char *const texts[][2] = {
                { "", "times out in " },
                { "you", "waits for you; times out in " },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *root = g_strdup_printf(
                        "{ 'type': 'FakeAction', 'name': 'A', 'timeout': '1h', 'text': '%s' }", texts[i][0]);
                g_autoptr(RunStage) stage = run_stage_new(root);
                g_autofree char *detail = NULL;
                NodeReport report;

                run_stage_start(stage);
                run_node_report(stage->run, 0, &report);
                detail = report.detail;
                g_assert_true(g_str_has_prefix(detail, texts[i][1]));
        }
}

static void test_replacement(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'ReactiveFallback', 'children': [{ 'type': 'Sequence', "
                              "'children': [" CONDITION("C") ", " ACTION("B") "] }, " STUBBORN("A") "] }");

        run_stage_start(stage);
        fake_set_value("C", STATUS_FAILURE, NULL);
        run_stage_turn(stage);
        run_stage_assert_node(stage, 4, STATUS_RUNNING, "waits for the test to go on");
        fake_set_value("C", STATUS_SUCCESS, NULL);
        run_stage_turn(stage);
        run_stage_assert_state(stage, 4, "halting", "halting");
        run_stage_assert_state(stage, 3, "waiting", "waits for A to stop");
        run_pause(stage->run, NULL);
        fake_end("A", STATUS_FAILURE, NULL);
        run_stage_turn(stage);
        run_stage_assert_state(stage, 3, "waiting", "waits for the run to be resumed");
        run_resume(stage->run, NULL);
        run_stage_turn(stage);
        run_stage_assert_node(stage, 3, STATUS_RUNNING, "waits for the test to go on");
}

static void test_forced_child(void) {
        g_autoptr(RunStage) stage =
                run_stage_new("{ 'type': 'Sequence', 'children': [" STUBBORN("A") ", " ACTION("B") "] }");

        run_stage_start(stage);
        g_assert_true(run_force(stage->run, 1, STATUS_SUCCESS, cause_new(CAUSE_FORCED, NULL, "forced by hand")));
        run_stage_turn(stage);
        run_stage_assert_state(stage, 1, "halting", "halting");
        run_stage_assert_state(stage, 0, "running", "waits for A to stop");
        fake_end("A", STATUS_FAILURE, NULL);
        run_stage_turn(stage);
        run_stage_assert_node(stage, 2, STATUS_RUNNING, "waits for the test to go on");
}

int main(int argc, char *argv[]) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/run-details/being-stopped", test_being_stopped);
        g_test_add_func("/run-details/timeout", test_timeout);
        g_test_add_func("/run-details/replacement", test_replacement);
        g_test_add_func("/run-details/forced-child", test_forced_child);
        return g_test_run();
}
