/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of what any node can say, as node types have theirs, and what the engine has to know of it. */

#include "definition/extras.h"

const Param extras_params[] = {
        { .name = "fail_if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(Extras, guards[GUARD_FAIL_IF]),
          .doc = "FAILURE without starting the node if it is true" },
        { .name = "success_if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(Extras, guards[GUARD_SUCCESS_IF]),
          .doc = "SUCCESS without starting the node if it is true" },
        { .name = "skip_if",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(Extras, guards[GUARD_SKIP_IF]),
          .doc = "SKIPPED without starting the node if it is true" },
        { .name = "while",
          .kind = PARAM_EXPRESSION,
          .offset = offsetof(Extras, guards[GUARD_WHILE]),
          .doc = "SKIPPED if it is not true, when the node would start and while it runs" },
        { .name = "on_success",
          .kind = PARAM_CODE,
          .offset = offsetof(Extras, hooks[HOOK_SUCCESS]),
          .doc = "Run when the node has succeeded" },
        { .name = "on_failure",
          .kind = PARAM_CODE,
          .offset = offsetof(Extras, hooks[HOOK_FAILURE]),
          .doc = "Run when the node has failed" },
        { .name = "on_halted",
          .kind = PARAM_CODE,
          .offset = offsetof(Extras, hooks[HOOK_HALTED]),
          .doc = "Run when the node has been halted" },
        { .name = "always",
          .kind = PARAM_CODE,
          .offset = offsetof(Extras, hooks[HOOK_ALWAYS]),
          .doc = "Run when the node has ended in any of these ways, behind the others" },
        { .name = "lock",
          .kind = PARAM_STRING,
          .offset = offsetof(Extras, lock),
          .literal = true,
          .doc = "The name of a lock, which one node at a time holds, of all runs; the others wait for it" },
        { .name = "uninterruptible",
          .kind = PARAM_BOOL,
          .offset = offsetof(Extras, uninterruptible),
          .fallback = "false",
          .doc = "A halt waits until the node completes by itself" },
        { .name = "halt_timeout",
          .kind = PARAM_SPAN,
          .offset = offsetof(Extras, halt_timeout),
          .fallback = "\"infinity\"",
          .min = 1,
          .doc = "Of an action: how long its halt may take before it is given up" },
        {},
};

static bool any(const Script *const *scripts, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (scripts[i])
                        return true;

        return false;
}

unsigned extras_flags(const Extras *extras) {
        return (any(extras->guards, G_N_ELEMENTS(extras->guards)) ? NODE_GUARDED : 0) |
               (any(extras->hooks, HOOK_MAX_) ? NODE_HOOKED : 0) | (extras->lock ? NODE_LOCKED : 0) |
               (extras->uninterruptible ? NODE_UNINTERRUPTIBLE : 0);
}
