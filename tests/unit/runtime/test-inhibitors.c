/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests Inhibit with locks that the test grants and refuses, and a next btd that takes them again. */

#include "basic/cleanup.h"
#include "recoverable-leaves.h"
#include "recovery-stage.h"
#include "run/run.h"

struct Inhibitor {
        char *text;
        bool again;
        HeldChanged done;
        void *userdata;
};

/* Those that are requested or held, in their order, and how many were left to the next btd. */
static GPtrArray *all;
static unsigned n_kept;

static Inhibitor *take(const LeafServices *services, const InhibitorRequest *request, bool again, HeldChanged done,
                       void *userdata) {
        Inhibitor *inhibitor = g_new(Inhibitor, 1);

        *inhibitor = (Inhibitor){
                .text = g_strdup_printf("%s|%s|%s|%s", request->what, request->who, request->why, request->mode),
                .again = again,
                .done = done,
                .userdata = userdata,
        };
        g_ptr_array_add(all, inhibitor);
        return inhibitor;
}

static void drop(Inhibitor *inhibitor, bool kept) {
        g_assert_true(g_ptr_array_remove(all, inhibitor));
        n_kept += kept;
        g_free(inhibitor->text);
        g_free(inhibitor);
}

static const InhibitorKind inhibitors = { .take = take, .free = drop };

/* refused: NULL: granted. */
static void answer(const RecoveryStage *stage, const char *refused) {
        const Inhibitor *inhibitor = all->pdata[all->len - 1];
        g_autoptr(Cause) cause = refused ? cause_new(CAUSE_DBUS_ERROR, NULL, refused) : NULL;

        inhibitor->done(cause, inhibitor->userdata);
        recovery_stage_turn(stage);
}

static RecoveryStage *begin(const char *root) {
        RecoveryStage *stage = recovery_stage_new(root);

        all = g_ptr_array_new();
        n_kept = 0;
        recoverable_reset();
        stage->inhibitors = stage->services.inhibitors = &inhibitors;
        recovery_stage_start(stage, "");
        recovery_stage_turn(stage);
        return stage;
}

static void end(RecoveryStage *stage) {
        recovery_stage_free(stage);
        g_assert_cmpuint(all->len, ==, 0);
        g_ptr_array_unref(all);
}

static void assert_detail(RecoveryStage *stage, NodeId node, const char *detail) {
        NodeReport report;

        run_node_report(recovery_stage_run(stage, "t.1"), node, &report);
        g_assert_cmpstr(report.detail, ==, detail);
        g_free(report.detail);
        g_free(report.element);
}

#define INHIBIT(more) "{ 'type': 'Inhibit', 'name': 'I', 'what': 'shutdown'" more ", 'child': " CHILD " }"
#define CHILD "{ 'type': 'Recoverable', 'name': 'A' }"

static void test_granted(void) {
        RecoveryStage *stage = begin("'root': " INHIBIT(", 'why': 'it is written', 'mode': 'delay'"));
        const Inhibitor *inhibitor = all->pdata[0];

        g_assert_cmpstr(inhibitor->text, ==, "shutdown|btd: t.1|it is written|delay");
        g_assert_false(inhibitor->again);
        assert_detail(stage, 0, "waits for the inhibitor lock 'shutdown'");
        g_assert_cmpstr(recoverable_events("A"), ==, "");

        answer(stage, NULL);
        g_assert_cmpstr(recoverable_events("A"), ==, "start ");
        g_assert_cmpuint(all->len, ==, 1);
        recoverable_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        g_assert_cmpuint(all->len, ==, 0);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        end(stage);
}

static void test_refused(void) {
        RecoveryStage *stage =
                begin("'root': { 'type': 'Fallback', 'children': [" INHIBIT("") ", { 'type': "
                                                                                "'Recoverable', 'name': 'B' } ] }");

        answer(stage, "no");
        g_assert_cmpuint(all->len, ==, 0);
        g_assert_cmpstr(recoverable_events("A"), ==, "");
        g_assert_cmpstr(recoverable_events("B"), ==, "start ");
        assert_detail(stage, 1, "no");
        recovery_stage_kill(stage);
        assert_detail(stage, 1, "no");
        recoverable_end("B", STATUS_FAILURE);
        recovery_stage_turn(stage);
        end(stage);
}

static void test_halted_while_it_waits(void) {
        RecoveryStage *stage = begin("'root': " INHIBIT(""));

        run_halt(recovery_stage_run(stage, "t.1"), cause_new(CAUSE_HALTED, NULL, "enough"));
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "enough");
        end(stage);
}

static void test_held_until_the_child_has_ended(void) {
        RecoveryStage *stage = begin("'root': " INHIBIT(""));

        recoverable_stubborn("A");
        answer(stage, NULL);
        run_halt(recovery_stage_run(stage, "t.1"), cause_new(CAUSE_HALTED, NULL, "enough"));
        recovery_stage_turn(stage);
        g_assert_cmpuint(all->len, ==, 1);
        recoverable_end("A", STATUS_FAILURE);
        recovery_stage_turn(stage);
        g_assert_cmpuint(all->len, ==, 0);
        recovery_stage_assert_finished(stage, "t.1", STATUS_HALTED, "enough");
        end(stage);
}

/* Nothing goes on before. */
static void test_taken_again(void) {
        RecoveryStage *stage = begin("'root': { 'type': 'Inhibit', 'what': 'shutdown', 'child': { 'type': 'Sequence', "
                                     "'children': [ " CHILD ", { 'type': 'Recoverable', 'name': 'B' } ] } }");

        answer(stage, NULL);
        recovery_stage_kill(stage);
        g_assert_cmpuint(n_kept, ==, 1);
        g_assert_cmpuint(all->len, ==, 1);
        g_assert_true(((const Inhibitor *) all->pdata[0])->again);

        recoverable_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("B"), ==, "");
        answer(stage, NULL);
        g_assert_cmpstr(recoverable_events("B"), ==, "start ");
        recoverable_end("B", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        end(stage);
}

/* The child is halted, and the lock of the previous btd is given up. */
static void test_refused_the_second_time(void) {
        RecoveryStage *stage = begin("'root': " INHIBIT(""));

        answer(stage, NULL);
        recovery_stage_kill(stage);
        recoverable_stubborn("A");
        answer(stage, "no");
        g_assert_cmpint(run_status(recovery_stage_run(stage, "t.1")), ==, STATUS_RUNNING);
        recoverable_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_FAILURE, "I: no");
        end(stage);
}

static void set_go(RecoveryStage *stage, bool go) {
        g_autoptr(json_object) values = json_object_new_object();
        g_autofree char *error = NULL;

        json_object_object_add(values, "a", json_object_new_int(go ? 0 : 1));
        g_assert_cmpint(run_set_values(recovery_stage_run(stage, "t.1"), values, NULL, &error), ==, 0);
}

#define CYCLES                                                                                                         \
        "'root': { 'type': 'Repeat', 'num_cycles': 2, 'child': { 'type': 'Sequence', 'children': [ { 'type': "         \
        "'WaitFor', 'child': " GO " }, { 'type': 'Fallback', 'children': [ { 'type': 'ReactiveSequence', 'children': " \
        "[ " GO ", " INHIBIT("") " ] }, { 'type': 'Recoverable', 'name': 'B' } ] } ] } }"
#define GO "{ 'type': 'Condition', 'test': 'a == 0' }"

/* Each start of the node requests the lock anew, also if the node was halted when the refusal came. */
static void next_cycle(RecoveryStage *stage) {
        recovery_stage_turn(stage);
        recoverable_end("B", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        g_assert_cmpuint(all->len, ==, 0);
        set_go(stage, true);
        recovery_stage_turn(stage);
        g_assert_cmpuint(all->len, ==, 1);
        answer(stage, NULL);
        g_assert_true(g_str_has_suffix(recoverable_events("A"), "start "));
        recoverable_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        end(stage);
}

static void test_refused_and_halted_at_once(void) {
        RecoveryStage *stage = begin(CYCLES);

        set_go(stage, false);
        answer(stage, "no");
        next_cycle(stage);
}

static void test_refused_while_it_halts(void) {
        RecoveryStage *stage = begin(CYCLES);

        answer(stage, NULL);
        recoverable_stubborn("A");
        set_go(stage, false);
        recovery_stage_turn(stage);
        recovery_stage_kill(stage);
        recoverable_stubborn("A");
        answer(stage, "no");
        recoverable_end("A", STATUS_SUCCESS);
        next_cycle(stage);
}

static void test_paused(void) {
        RecoveryStage *stage = begin("'root': " INHIBIT(""));

        run_pause(recovery_stage_run(stage, "t.1"), NULL);
        answer(stage, NULL);
        g_assert_cmpstr(recoverable_events("A"), ==, "");
        recovery_stage_kill(stage);
        answer(stage, NULL);
        g_assert_cmpstr(recoverable_events("A"), ==, "");
        run_resume(recovery_stage_run(stage, "t.1"), NULL);
        recovery_stage_turn(stage);
        g_assert_cmpstr(recoverable_events("A"), ==, "start ");
        recoverable_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        end(stage);
}

/* It was still waiting when btd was killed. */
static void test_requested_anew(void) {
        RecoveryStage *stage = begin("'root': " INHIBIT(""));

        recovery_stage_kill(stage);
        g_assert_cmpuint(all->len, ==, 1);
        g_assert_false(((const Inhibitor *) all->pdata[0])->again);
        answer(stage, NULL);
        g_assert_cmpstr(recoverable_events("A"), ==, "start ");
        recoverable_end("A", STATUS_SUCCESS);
        recovery_stage_turn(stage);
        recovery_stage_assert_finished(stage, "t.1", STATUS_SUCCESS, NULL);
        end(stage);
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/inhibitors/granted", test_granted);
        g_test_add_func("/inhibitors/refused", test_refused);
        g_test_add_func("/inhibitors/halted-while-it-waits", test_halted_while_it_waits);
        g_test_add_func("/inhibitors/held-until-the-child-has-ended", test_held_until_the_child_has_ended);
        g_test_add_func("/inhibitors/taken-again", test_taken_again);
        g_test_add_func("/inhibitors/refused-the-second-time", test_refused_the_second_time);
        g_test_add_func("/inhibitors/refused-and-halted-at-once", test_refused_and_halted_at_once);
        g_test_add_func("/inhibitors/refused-while-it-halts", test_refused_while_it_halts);
        g_test_add_func("/inhibitors/paused", test_paused);
        g_test_add_func("/inhibitors/requested-anew", test_requested_anew);
        return g_test_run();
}
