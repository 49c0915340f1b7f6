/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Condition evaluates an expression over the variables. Log writes a message to the log. Script runs code that reads
 * and sets variables. Sleep succeeds after a time. AlwaysSuccess and AlwaysFailure complete at once.
 */

#include "leaf-types/basic.h"
#include "basic/log.h"
#include "basic/span.h"
#include "basic/timers.h"
#include "leaves/kinds.h"
#include "leaves/live-test.h"

typedef struct Condition {
        LiveTest *test;
        Status value;
} Condition;

static Status condition_evaluate(Leaf *leaf) {
        Condition *op = leaf->op;

        if (live_test_is_stale(op->test))
                op->value = live_test_evaluate(op->test, NULL, NULL);
        return op->value;
}

static Status condition_start(Leaf *leaf) {
        const ConditionParams *params = leaf->params;
        Condition *op = leaf->op;

        op->test = live_test_new(leaf, params->test);
        return condition_evaluate(leaf);
}

static void condition_release(Leaf *leaf) {
        Condition *op = leaf->op;

        live_test_free(op->test);
}

const LeafKind condition_kind = {
        .op_size = sizeof(Condition),
        .start = condition_start,
        .evaluate = condition_evaluate,
        .release = condition_release,
};

static Status log_start(Leaf *leaf) {
        const LogParams *params = leaf->params;

        leaf_say(leaf, log_params_level(params), params->message);
        return STATUS_SUCCESS;
}

const LeafKind log_kind = { .start = log_start };

static Status script_start(Leaf *leaf) {
        const ScriptParams *params = leaf->params;

        return leaf_run(leaf, params->code);
}

const LeafKind script_kind = { .start = script_start };

typedef struct Sleep {
        Timer *timer; /* NULL: sleeps until it is halted */
} Sleep;

static void on_expired(void *userdata) {
        leaf_end(userdata, STATUS_SUCCESS);
}

static Status sleep_start(Leaf *leaf) {
        const SleepParams *params = leaf->params;
        Sleep *op = leaf->op;

        if (params->duration == 0)
                return STATUS_SUCCESS;

        op->timer = leaf_timer_new(leaf, params->duration, on_expired, leaf);
        return STATUS_RUNNING;
}

static void sleep_release(Leaf *leaf) {
        Sleep *op = leaf->op;

        g_clear_pointer(&op->timer, timer_free);
}

static void sleep_describe(Leaf *leaf, GString *text) {
        const SleepParams *params = leaf->params;
        const Sleep *op = leaf->op;
        g_autofree char *duration = span_format(params->duration);

        if (op->timer)
                g_string_append_printf(text, "%s to pass", duration);
        else
                g_string_append(text, "a halt");
}

const LeafKind sleep_kind = {
        .op_size = sizeof(Sleep),
        .start = sleep_start,
        .recover = sleep_start,
        .release = sleep_release,
        .describe = sleep_describe,
};

static Status always_success_start(Leaf *leaf) {
        return STATUS_SUCCESS;
}

static Status always_failure_start(Leaf *leaf) {
        const AlwaysFailureParams *params = leaf->params;

        leaf_set_cause(leaf, "%s", params->message);
        return STATUS_FAILURE;
}

const LeafKind always_success_kind = { .start = always_success_start };
const LeafKind always_failure_kind = { .start = always_failure_start };
