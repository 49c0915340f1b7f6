/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* AlwaysSuccess and AlwaysFailure: actions that complete at once. */

#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf.h"

static Status always_success_start(Leaf *leaf) {
        return STATUS_SUCCESS;
}

static Status always_failure_start(Leaf *leaf) {
        leaf_set_cause(leaf, "always fails");
        return STATUS_FAILURE;
}

const LeafKind always_success_kind = { .start = always_success_start };
const LeafKind always_failure_kind = { .start = always_failure_start };

const NodeType always_success_type = {
        .name = "AlwaysSuccess",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS | TYPE_INWARD,
        .summary = "Succeeds at once",
};

const NodeType always_failure_type = {
        .name = "AlwaysFailure",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_SUCCEEDS | TYPE_INWARD,
        .summary = "Fails at once",
};
