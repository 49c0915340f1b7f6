/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "inputs.h"
#include "leaf-types/leaf-types.h"
#include "run-stage.h"

static void on_changed(Run *run, void *userdata) {}

static void on_state_changed(Run *run, void *userdata) {
        RunStage *stage = userdata;

        stage->state_changes++;
}

static void on_finished(Run *run, void *userdata) {
        RunStage *stage = userdata;

        stage->finished++;
}

static const RunCallbacks callbacks = {
        .changed = on_changed,
        .state_changed = on_state_changed,
        .finished = on_finished,
};

static const NodeType *const computed_types[] = { &condition_type, &script_type, NULL };

RunStage *run_stage_new_file(const char *file) {
        const NodeType *const *const tables[] = { fake_tables[0], fake_tables[1], computed_types, NULL };
        RunStage *stage = g_new0(RunStage, 1);
        g_autofree char *text = g_strdup(file);
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("test.json");

        g_strdelimit(text, "'", '"');
        stage->context = g_main_context_new();
        stage->timers = timers_new(stage->context);
        stage->ticker = ticker_new(stage->context);
        stage->locks = locks_new();
        stage->leaves = (LeafServices){ .kind_of = fake_kind_of, .timers = stage->timers };
        stage->services = (RunServices){ .leaves = &stage->leaves, .ticker = stage->ticker, .locks = stage->locks };
        if (definition_load_text(text, strlen(text), tables, NULL, diagnostics, &stage->definition) < 0)
                g_error("%s", diagnostics_format(diagnostics, 0));

        stage->run = run_stage_add(stage, "test.1");
        return stage;
}

RunStage *run_stage_new(const char *root) {
        g_autofree char *inputs = inputs_of(root);
        g_autofree char *file = g_strdup_printf("{ 'btd': 1, 'inputs': %s, 'root': %s }", inputs, root);

        return run_stage_new_file(file);
}

void run_stage_free(RunStage *stage) {
        run_free(stage->run);
        definition_unref(stage->definition);
        locks_free(stage->locks);
        ticker_free(stage->ticker);
        timers_free(stage->timers);
        g_main_context_unref(stage->context);
        g_free(stage);
        fake_reset();
}

Run *run_stage_add(RunStage *stage, const char *id) {
        return run_new(id, "test", "", stage->definition, &stage->services, &callbacks, stage);
}

void run_stage_turn(const RunStage *stage) {
        while (g_main_context_iteration(stage->context, FALSE))
                ;
}

void run_stage_start(const RunStage *stage) {
        run_start(stage->run, NULL);
        run_stage_turn(stage);
}

void run_stage_halt(const RunStage *stage, const char *why) {
        run_halt(stage->run, cause_new(CAUSE_HALTED, NULL, why));
        run_stage_turn(stage);
}

void run_stage_end(const RunStage *stage, const char *name, Status status, const char *cause) {
        fake_end(name, status, cause);
        run_stage_turn(stage);
}

void run_stage_await_finish(const RunStage *stage) {
        while (stage->finished == 0)
                g_main_context_iteration(stage->context, TRUE);
}

void run_stage_assert_finished(const RunStage *stage, Status status, const char *cause) {
        g_assert_cmpuint(stage->finished, ==, 1);
        g_assert_cmpstr(status_to_string(run_status(stage->run)), ==, status_to_string(status));
        g_assert_cmpstr(run_cause(stage->run), ==, cause);
        g_assert_cmpuint(run_finished(stage->run), >=, run_started(stage->run));
        g_assert_false(run_halting(stage->run));
}

void run_stage_assert_state(const RunStage *stage, NodeId node, const char *state, const char *detail) {
        g_autofree char *owned = NULL;
        NodeReport report;

        run_node_report(stage->run, node, &report);
        owned = report.detail;
        g_assert_cmpstr(report.state, ==, state);
        g_assert_cmpstr(report.detail, ==, detail);
        g_assert_cmpuint(report.since, >, 0);
}

void run_stage_assert_node(const RunStage *stage, NodeId node, Status status, const char *detail) {
        g_autofree char *owned = NULL;
        NodeReport report;

        run_node_report(stage->run, node, &report);
        owned = report.detail;
        g_assert_cmpstr(status_to_string(report.status), ==, status_to_string(status));
        g_assert_cmpstr(report.detail, ==, detail);
        g_assert_true((report.since == 0) == (status == STATUS_IDLE));
}
