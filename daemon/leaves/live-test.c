/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* While variables are set, others may be half-way there: so a change only makes the test stale. */

#include "leaves/live-test.h"
#include "basic/cleanup.h"
#include "script/seen.h"

struct LiveTest {
        Leaf *leaf;
        const Script *script;
        BlackboardWatch *watch;
        bool stale;
};

static void on_variables_changed(void *userdata) {
        LiveTest *test = userdata;

        if (test->stale)
                return;

        test->stale = true;
        leaf_value_changed(test->leaf);
}

LiveTest *live_test_new(Leaf *leaf, const Script *script) {
        LiveTest *test = g_new(LiveTest, 1);

        *test = (LiveTest){ .leaf = leaf, .script = script, .stale = true };
        test->watch = blackboard_watch(leaf->blackboard, script_reads(script), on_variables_changed, test);
        return test;
}

void live_test_free(LiveTest *test) {
        if (!test)
                return;

        blackboard_watch_free(test->watch);
        g_free(test);
}

bool live_test_is_stale(const LiveTest *test) {
        return test->stale;
}

static void set_false_cause(const LiveTest *test, const char *const *names, json_object *const *values) {
        json_object *seen = seen_variables(test->leaf->blackboard, script_reads(test->script));
        const char *code = script_code(test->script);
        g_autofree char *shown = NULL;

        for (; names && *names; names++, values++)
                json_object_object_add(seen, *names, json_object_get(*values));

        shown = seen_describe(seen);
        leaf_set_cause_of(test->leaf, CAUSE_CONDITION, facts_new("expression", fact_text(code), "seen", seen, NULL),
                          "%s is false%s%s%s", code, *shown ? " (" : "", shown, *shown ? ")" : "");
}

Status live_test_evaluate(LiveTest *test, const char *const *names, json_object *const *values) {
        g_autofree char *error = NULL;
        bool truth;

        test->stale = false;
        if (script_test(test->script, test->leaf->blackboard, values, &truth, &error) < 0) {
                leaf_set_cause_of(test->leaf, CAUSE_EXPRESSION,
                                  facts_new("expression", fact_text(script_code(test->script)), NULL), "%s", error);
                return STATUS_ERROR;
        }

        if (truth)
                return STATUS_SUCCESS;

        set_false_cause(test, names, values);
        return STATUS_FAILURE;
}
