/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Evaluates the expression of a condition when its inputs have changed. A change only marks the test stale, because an
 * update may set several variables; it is evaluated afterwards. */

#include <assert.h>

#include "basic/cleanup.h"
#include "leaves/live-test.h"
#include "script/script-status.h"

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

Status live_test_evaluate(LiveTest *test, const char *const *names, json_object *const *values) {
        g_autoptr(json_object) shown = NULL;
        json_object *first = NULL;
        Cause *cause = NULL;
        Status status;

        /* A cause quotes only the beginning of a long value. */
        assert(!names || !names[1]);
        if (names)
                first = shown = leaf_hide_value(test->leaf, values[0]);
        test->stale = false;
        status = script_status_of_test(test->script, test->leaf->blackboard, names, values, &first, &cause);
        if (cause)
                leaf_give_cause(test->leaf, cause);
        return status;
}
