/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sleep: succeeds after a time. */

#include "basic/span.h"
#include "basic/timers.h"
#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf.h"

typedef struct SleepParams {
        uint64_t duration;
} SleepParams;

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
                g_string_append_printf(text, "%s to be over", duration);
        else
                g_string_append(text, "a halt");
}

static const Param sleep_params[] = {
        {
                .name = "duration",
                .kind = PARAM_SPAN,
                .offset = offsetof(SleepParams, duration),
                .required = true,
                .title = true,
                .doc = "How long; \"infinity\" sleeps until it is halted",
        },
        {},
};

const LeafKind sleep_kind = {
        .op_size = sizeof(Sleep),
        .start = sleep_start,
        .recover = sleep_start,
        .release = sleep_release,
        .describe = sleep_describe,
};

const NodeType sleep_type = {
        .name = "Sleep",
        .class = NODE_ACTION,
        .flags = TYPE_NEVER_FAILS | TYPE_INWARD,
        .params = sleep_params,
        .params_size = sizeof(SleepParams),
        .summary = "Succeeds when a time is over",
};
