/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests what a new run takes over from a finished one, for each control, and that it executes only the rest. */

#include <string.h>

#include "basic/cleanup.h"
#include "run-stage.h"
#include "run/retry.h"

typedef struct Case {
        const char *root;
        const char *ends; /* "A+ B-": the leaves that end, and how; then the run is halted if it has not finished */
        const char *from; /* the path of a node, or NULL */
        const char *plan; /* "taken; anew; first", or an error message */
        const char *next; /* the actions that the new run starts first */
} Case;

#define SEQUENCE(children) "{ 'type': 'Sequence', 'name': 'S', 'children': [" children "] }"
#define CONTROL(type, children) "{ 'type': '" type "', 'name': 'C', 'children': [" children "] }"
#define DECORATOR(type, child) "{ 'type': '" type "', 'name': 'D', 'child': " child " }"
#define ABC ACTION("A") ", " ACTION("B") ", " ACTION("C")
#define AB SEQUENCE(ACTION("A") ", " ACTION("B"))

static const Case cases[] = {
        { SEQUENCE(ABC), "A+ B-", NULL, "S/A; ; S/B", "B" },
        { SEQUENCE(ABC), "A-", NULL, "; ; S/A", "A" },
        { SEQUENCE(ABC), "A+", NULL, "S/A; ; S/B", "B" },
        { SEQUENCE(ABC), "A~ B-", NULL, "; ; S/B", "A" },
        { SEQUENCE(ABC), "A+ B+ C-", "S/B", "S/A; ; S/B", "B" },
        { SEQUENCE(ABC), "A+ B+ C+", "S/B", "S/A; ; S/B", "B" },
        { SEQUENCE(ABC), "A+ B+ C+", NULL, "test.1 has succeeded; to run a part of it again, give --from=NODE", NULL },
        { SEQUENCE(ABC), "A-", "S/B", "'S/A' comes before 'S/B' and has not succeeded; begin with that one", NULL },
        { SEQUENCE(ABC), "A+ B-", "S", "; ; S", "A" },
        { SEQUENCE("{ 'type': 'FakeAction', 'name': 'A', 'may_fail': true }, " ACTION("B")), "A- B-", NULL,
          "S/A; ; S/B", "B" },
        { CONTROL("AsyncSequence", ABC), "A+ B-", NULL, "C/A; ; C/B", "" },
        { CONTROL("SequenceWithMemory", ABC), "A+ B-", NULL, "C/A; ; C/B", "B" },
        { CONTROL("Fallback", AB ", " ACTION("C")), "A+ B- C-", NULL, "C/S/A; ; C/S/B", "B" },
        { SEQUENCE(CONTROL("Fallback", AB ", " ACTION("C")) ", " ACTION("E")), "A- C+ E-", NULL, "S/C; ; S/E", "E" },
        { CONTROL("ParallelAll", ABC), "A+ B- C+", NULL, "C/A, C/C; ; C/B", "B" },
        { CONTROL("Parallel", ABC), "C+ B-", NULL, "C/C; ; C/A", "A B" },
        { CONTROL("IfThenElse", ACTION("A") ", " AB ", " ACTION("E")), "A+ A+ B-", NULL, "C/A, C/S/A; ; C/S/B", "B" },
        { CONTROL("TryCatch", AB ", " ACTION("E")), "A+ B- E-", NULL, "C/S/A; ; C/S/B", "B" },
        { CONTROL("TryCatch", AB ", " ACTION("E")), "A+ B- E-", "C/E",
          "'C/S/B' comes before 'C/E' and has not succeeded; begin with that one", NULL },
        { CONTROL("TryCatch", AB ", " ACTION("E")), "A+ B+", "C/E",
          "a run cannot begin with 'C/E', which handles a failure", NULL },
        { CONTROL("RecoveryNode", AB ", " ACTION("E")), "A+ B- E+ A+ B-", NULL, "C/S/A; ; C/S/B", "B" },
        { DECORATOR("ForceSuccess", AB), "A+", NULL, "D/S/A; ; D/S/B", "B" },
        { "{ 'type': 'RetryUntilSuccessful', 'name': 'D', 'num_attempts': 2, 'child': " SEQUENCE(ABC) " }", "A+ B- A-",
          NULL, "; ; D/S/A", "A" },
        { "{ 'type': 'RetryUntilSuccessful', 'name': 'D', 'num_attempts': 2, 'child': " SEQUENCE(ABC) " }",
          "A- A+ B+ C-", NULL, "D/S/A, D/S/B; ; D/S/C", "C" },
        { "{ 'type': 'Timeout', 'name': 'D', 'timeout': '1h', 'child': " AB " }", "A+ B-", NULL, "D/S/A; ; D/S/B",
          "B" },
        { DECORATOR("RunOnce", AB), "A+ B-", NULL, "D/S/A; ; D/S/B", "B" },
        /* These begin anew. */
        { SEQUENCE(ACTION("A") ", " DECORATOR("Inverter", AB)), "A+ A+ B+", NULL, "S/A; S/D; S/D", "A" },
        { SEQUENCE(ACTION("A") ", " DECORATOR("Inverter", ACTION("B"))), "A+", NULL, "S/A; ; S/D", "B" },
        { CONTROL("Finally", AB ", " ACTION("E")), "A+ B- E+", NULL, "; C; C", "A" },
        { CONTROL("Finally", AB ", " ACTION("E")), "A+ B- E+", "C/S/B",
          "'C/S/B' is in the Finally 'C', which can only begin anew; give that one", NULL },
        { CONTROL("ReactiveSequence", "{ 'type': 'Condition', 'test': 'true' }, " ACTION("B")), "B-", NULL, "; ; C",
          "" },
        { "{ 'type': 'Repeat', 'name': 'D', 'num_cycles': 2, 'child': " AB " }", "A+ B+ A+ B-", NULL, "; D; D", "A" },
        /* Conditions are evaluated anew. */
        { SEQUENCE("{ 'type': 'Condition', 'name': 'Q', 'test': 'true' }, " ACTION("A") ", " ACTION("B")), "A+ B-",
          NULL, "S/A; ; S/B", "B" },
};

static Status status_of(char sign) {
        return sign == '+' ? STATUS_SUCCESS : sign == '-' ? STATUS_FAILURE : STATUS_SKIPPED;
}

static NodeId find(const Tree *tree, const char *wanted) {
        for (NodeId node = 0; wanted && node < tree->n_nodes; node++) {
                g_autofree char *path = tree_node_path(tree, node);

                if (g_str_equal(path, wanted))
                        return node;
        }

        g_assert_null(wanted);
        return NODE_NONE;
}

static void append_paths(GString *text, const Tree *tree, const GArray *nodes) {
        for (unsigned i = 0; i < nodes->len; i++) {
                g_autofree char *path = tree_node_path(tree, g_array_index(nodes, NodeId, i));

                g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", path);
        }
        g_string_append(text, "; ");
}

static char *alive(void) {
        GString *text = g_string_new(NULL);

        for (char name[] = "A"; *name <= 'E'; (*name)++)
                if (fake_is_alive(name))
                        g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", name);
        return g_string_free(text, FALSE);
}

static void try_case(const Case *it) {
        g_autoptr(RunStage) stage = run_stage_new(it->root);
        const Tree *tree = definition_tree(stage->definition);
        g_auto(GStrv) ends = g_strsplit(it->ends, " ", -1);
        g_autofree char *error = NULL, *first = NULL, *started = NULL;
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(RetryPlan) plan = NULL;
        g_autoptr(json_object) state = NULL;
        RunTaken taken;
        Run *next;

        run_stage_start(stage);
        for (char **end = ends; *end; end++) {
                char name[] = { **end, '\0' };

                while (!fake_is_alive(name))
                        g_main_context_iteration(stage->context, TRUE);
                run_stage_end(stage, name, status_of((*end)[1]), "told to");
        }
        if (run_status(stage->run) == STATUS_RUNNING)
                run_stage_halt(stage, "halted");

        if (retry_plan_new(stage->run, find(tree, it->from), &plan, &error) < 0) {
                g_assert_cmpstr(error, ==, it->plan);
                return;
        }
        append_paths(text, tree, plan->taken);
        append_paths(text, tree, plan->anew);
        first = plan->first == NODE_NONE ? NULL : tree_node_path(tree, plan->first);
        g_string_append(text, first ?: "");
        g_assert_cmpstr(text->str, ==, it->plan);

        state = retry_variables(stage->run);
        taken = (RunTaken){ .run = "test.1", .nodes = plan->taken, .variables = state };
        next = run_stage_add(stage, "test.2");
        run_start(next, &taken);
        run_stage_turn(stage);
        started = alive();
        if (*it->next)
                g_assert_cmpstr(started, ==, it->next);
        run_free(next);
}

static void test_cases(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                try_case(&cases[i]);
}

static void test_running(void) {
        g_autoptr(RunStage) stage = run_stage_new(ACTION("A"));
        g_autoptr(RetryPlan) plan = NULL;
        g_autofree char *error = NULL;

        run_stage_start(stage);
        g_assert_cmpint(retry_plan_new(stage->run, NODE_NONE, &plan, &error), <, 0);
        g_assert_cmpstr(error, ==, "test.1 has not finished; halt it first");
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/retry/cases", test_cases);
        g_test_add_func("/retry/running", test_running);
        return g_test_run();
}
