/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Defines the table of the common attributes of nodes, as node types have theirs, and the flags that the engine gets
 * from them. */

#include "definition/common-attributes.h"

static char *lock_problem(const char *name) {
        return *name ? NULL : g_strdup("it is empty; leave it out, or give a name");
}

static const TextFormat lock_format = { .name = "the name of a lock", .pattern = "^.", .problem = lock_problem };

static const char *const clock_names[] = {
        [ATTRIBUTE_CLOCK_MONOTONIC] = "monotonic",
        [ATTRIBUTE_CLOCK_BOOTTIME] = "boottime",
        NULL,
};

const Param common_attribute_params[] = {
        { .name = "fail_if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(CommonAttributes, guards[GUARD_FAIL_IF]),
          .doc = "An expression: if it is true, the node does not start, and its outcome is FAILURE" },
        { .name = "success_if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(CommonAttributes, guards[GUARD_SUCCESS_IF]),
          .doc = "An expression: if it is true, the node does not start, and its outcome is SUCCESS" },
        { .name = "skip_if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(CommonAttributes, guards[GUARD_SKIP_IF]),
          .doc = "An expression: if it is true, the node does not start, and its outcome is SKIPPED" },
        { .name = "while",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(CommonAttributes, guards[GUARD_WHILE]),
          .doc = "An expression: the node runs only while it is true; otherwise it is halted, and SKIPPED" },
        { .name = "on_success",
          .kind = PARAM_CODE,
          .offset = offsetof(CommonAttributes, hooks[HOOK_SUCCESS]),
          .doc = "Code that runs when the node has succeeded" },
        { .name = "on_failure",
          .kind = PARAM_CODE,
          .offset = offsetof(CommonAttributes, hooks[HOOK_FAILURE]),
          .doc = "Code that runs when the node has failed" },
        { .name = "on_halted",
          .kind = PARAM_CODE,
          .offset = offsetof(CommonAttributes, hooks[HOOK_HALTED]),
          .doc = "Code that runs when the node was halted" },
        { .name = "always",
          .kind = PARAM_CODE,
          .offset = offsetof(CommonAttributes, hooks[HOOK_ALWAYS]),
          .doc = "Code that runs last, after any of these three" },
        { .name = "may_fail",
          .kind = PARAM_BOOL,
          .offset = offsetof(CommonAttributes, may_fail),
          .fallback = "false",
          .doc = "true: if the node fails, this is shown as an allowed failure, and counts as a success" },
        { .name = "lock",
          .kind = PARAM_STRING,
          .offset = offsetof(CommonAttributes, lock),
          .literal = true,
          .format = &lock_format,
          .doc = "The name of a lock; one node at a time, of all runs, holds it, and the others wait" },
        { .name = "uninterruptible",
          .kind = PARAM_BOOL,
          .offset = offsetof(CommonAttributes, uninterruptible),
          .fallback = "false",
          .doc = "A halt waits until the node has ended by itself" },
        { .name = "halt_timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(CommonAttributes, halt_timeout),
          .fallback = "\"infinity\"",
          .min = 1,
          .doc = "For actions: how long a halt may take before the action is given up" },
        { .name = "clock",
          .kind = PARAM_ENUM,
          .offset = offsetof(CommonAttributes, clock),
          .fallback = "\"monotonic\"",
          .values = clock_names,
          .doc = "For nodes with a time: during a suspend, monotonic stops and boottime continues" },
        { .name = "ready",
          .kind = PARAM_BOOL,
          .offset = offsetof(CommonAttributes, ready),
          .fallback = "false",
          .doc = "The run becomes ready when the node succeeds for the first time" },
        { .name = "for",
          .kind = PARAM_SPAN,
          .offset = offsetof(CommonAttributes, true_for),
          .doc = "For conditions: how long it must be true without interruption before it counts as true" },
        { .name = "false_for",
          .kind = PARAM_SPAN,
          .offset = offsetof(CommonAttributes, false_for),
          .doc = "The same for false" },
        {},
};

static bool any(const Script *const *scripts, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (scripts[i])
                        return true;

        return false;
}

unsigned common_attributes_flags(const CommonAttributes *attributes) {
        return (any(attributes->guards, G_N_ELEMENTS(attributes->guards)) ? NODE_GUARDED : 0) |
               (any(attributes->hooks, HOOK_MAX_) ? NODE_HOOKED : 0) | (attributes->lock ? NODE_LOCKED : 0) |
               (attributes->uninterruptible ? NODE_UNINTERRUPTIBLE : 0) | (attributes->may_fail ? NODE_MAY_FAIL : 0);
}

static bool has_span(const Param *params) {
        for (const Param *param = params; param && param->name; param++)
                if (param->kind == PARAM_SPAN || (param->kind == PARAM_OBJECT && has_span(param->members)))
                        return true;

        return false;
}

bool common_attribute_applies(const Param *attribute, const NodeType *type) {
        if (attribute->offset == offsetof(CommonAttributes, halt_timeout))
                return type->class == NODE_ACTION;
        if (attribute->offset == offsetof(CommonAttributes, true_for) ||
            attribute->offset == offsetof(CommonAttributes, false_for))
                return type->class == NODE_CONDITION;
        /* A node has only one lock. */
        if (attribute->offset == offsetof(CommonAttributes, lock))
                return !(type->flags & TYPE_HAS_LOCK);

        return attribute->offset != offsetof(CommonAttributes, clock) || type_has_time(type);
}

bool type_has_time(const NodeType *type) {
        return has_span(type->params);
}
