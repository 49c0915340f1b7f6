/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Decorators that only change their child's outcome: Inverter, ForceSuccess, ForceFailure. */

#include "engine/node.h"
#include "engine/types/outlook.h"
#include "engine/types/types.h"

static Status inverter_tick(Machine *machine, NodeId node) {
        Status status = child_tick(machine, node + 1);

        if (status == STATUS_SUCCESS)
                return STATUS_FAILURE;

        return status == STATUS_FAILURE ? STATUS_SUCCESS : status;
}

static Status force_success_tick(Machine *machine, NodeId node) {
        Status status = child_tick(machine, node + 1);

        return status == STATUS_FAILURE ? STATUS_SUCCESS : status;
}

static Status force_failure_tick(Machine *machine, NodeId node) {
        Status status = child_tick(machine, node + 1);

        return status == STATUS_SUCCESS ? STATUS_FAILURE : status;
}

/* A child that never ends is not forced to. */
static unsigned force_never(const Node *nodes, NodeId node) {
        return outlook_is_endless(&nodes[node + 1]) ? TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS : 0;
}

static unsigned inverter_never(const Node *nodes, NodeId node) {
        unsigned flags = nodes[node + 1].flags;

        return (flags & NODE_NEVER_SUCCEEDS ? TYPE_NEVER_FAILS : 0) |
               (flags & NODE_NEVER_FAILS ? TYPE_NEVER_SUCCEEDS : 0);
}

const NodeType inverter_type = {
        .name = "Inverter",
        .class = NODE_DECORATOR,
        .flags = TYPE_PURE,
        .summary = "Turns its child's SUCCESS into FAILURE and its FAILURE into SUCCESS",
        .doc = "SKIPPED stays SKIPPED.",
        .tick = inverter_tick,
        .never = inverter_never,
};

static const char *const force_success_aliases[] = { "Succeeder", NULL };

const NodeType force_success_type = {
        .name = "ForceSuccess",
        .aliases = force_success_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_PURE | TYPE_NEVER_FAILS,
        .summary = "SUCCESS, whether its child succeeds or fails",
        .doc = "For what may fail without failing the rest. SKIPPED stays SKIPPED.",
        .tick = force_success_tick,
        .never = force_never,
};

const NodeType force_failure_type = {
        .name = "ForceFailure",
        .class = NODE_DECORATOR,
        .flags = TYPE_PURE | TYPE_NEVER_SUCCEEDS,
        .summary = "FAILURE, whether its child succeeds or fails",
        .doc = "SKIPPED stays SKIPPED.",
        .tick = force_failure_tick,
        .never = force_never,
};
