/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Condition: evaluates an expression over the variables. */

#include "leaves/kinds.h"
#include "leaves/live-test.h"
#include "leaves/registry.h"

typedef struct ConditionParams {
        const Script *test;
} ConditionParams;

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

static const Param condition_params[] = {
        {
                .name = "test",
                .kind = PARAM_EXPRESSION,
                .offset = offsetof(ConditionParams, test),
                .required = true,
                .title = true,
                .doc = "An expression over the variables, like \"battery > 20 and mode ~= 'off'\"",
        },
        {},
};

const LeafKind condition_kind = {
        .op_size = sizeof(Condition),
        .start = condition_start,
        .evaluate = condition_evaluate,
        .release = condition_release,
};

const NodeType condition_type = {
        .name = "Condition",
        .class = NODE_CONDITION,
        .flags = TYPE_INWARD,
        .params = condition_params,
        .params_size = sizeof(ConditionParams),
        .summary = "Holds while an expression over the variables is true",
        .doc = "The expression is evaluated again when one of the variables that it reads has changed. An expression "
               "that cannot be evaluated ends the run in ERROR.",
};
