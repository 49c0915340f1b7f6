/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of the guards that any node can have, as node types have theirs. */

#include "definition/load.h"

const Param guard_params[] = {
        { .name = "fail_if",
          .kind = PARAM_STRING,
          .offset = offsetof(Guards, variables[GUARD_FAIL_IF]),
          .doc = "A variable: FAILURE without starting the node if it is true" },
        { .name = "success_if",
          .kind = PARAM_STRING,
          .offset = offsetof(Guards, variables[GUARD_SUCCESS_IF]),
          .doc = "A variable: SUCCESS without starting the node if it is true" },
        { .name = "skip_if",
          .kind = PARAM_STRING,
          .offset = offsetof(Guards, variables[GUARD_SKIP_IF]),
          .doc = "A variable: SKIPPED without starting the node if it is true" },
        { .name = "while",
          .kind = PARAM_STRING,
          .offset = offsetof(Guards, variables[GUARD_WHILE]),
          .doc = "A variable: SKIPPED if it is not true, when the node would start and while it runs" },
        {},
};
