/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inverter, ForceSuccess and ForceFailure: decorators that only change the outcome of their child. */

#include "engine/node.h"
#include "engine/types/types.h"

static Status outcome_resume(Machine *machine, NodeId node, NodeId child, Status answer) {
        const Course *course = machine->nodes[node].type->course;

        return answer == STATUS_SUCCESS ? course->success : answer == STATUS_FAILURE ? course->failure : answer;
}

static Status outcome_tick(Machine *machine, NodeId node) {
        if (node_may_walk(machine, node))
                return node_walk(machine, node);

        return outcome_resume(machine, node, node + 1, child_tick(machine, node + 1));
}

/* A child that never completes has no outcome to change. */
static unsigned force_never(const Node *nodes, NodeId node) {
        return node_runs_forever(&nodes[node + 1]) ? TYPE_NEVER_FAILS | TYPE_NEVER_SUCCEEDS : 0;
}

static unsigned inverter_never(const Node *nodes, NodeId node) {
        unsigned flags = nodes[node + 1].flags;

        return (flags & NODE_NEVER_SUCCEEDS ? TYPE_NEVER_FAILS : 0) |
               (flags & NODE_NEVER_FAILS ? TYPE_NEVER_SUCCEEDS : 0);
}

static const Course inverter_course = {
        .success = STATUS_FAILURE,
        .failure = STATUS_SUCCESS,
        .resume = outcome_resume,
};

const NodeType inverter_type = {
        .name = "Inverter",
        .class = NODE_DECORATOR,
        .flags = TYPE_PURE,
        .summary = "Turns its child's SUCCESS into FAILURE and its FAILURE into SUCCESS",
        .doc = "SKIPPED stays SKIPPED.",
        .course = &inverter_course,
        .tick = outcome_tick,
        .never = inverter_never,
};

static const Course force_success_course = {
        .success = STATUS_SUCCESS,
        .failure = STATUS_SUCCESS,
        .resume = outcome_resume,
};

static const char *const force_success_aliases[] = { "Succeeder", NULL };

const NodeType force_success_type = {
        .name = "ForceSuccess",
        .aliases = force_success_aliases,
        .class = NODE_DECORATOR,
        .flags = TYPE_PURE | TYPE_NEVER_FAILS,
        .summary = "Succeeds when its child has ended, whether the child succeeded or failed",
        .doc = "For steps that may fail. SKIPPED stays SKIPPED.",
        .course = &force_success_course,
        .tick = outcome_tick,
        .never = force_never,
};

static const Course force_failure_course = {
        .success = STATUS_FAILURE,
        .failure = STATUS_FAILURE,
        .resume = outcome_resume,
};

const NodeType force_failure_type = {
        .name = "ForceFailure",
        .class = NODE_DECORATOR,
        .flags = TYPE_PURE | TYPE_NEVER_SUCCEEDS,
        .summary = "Fails when its child has ended, whether the child succeeded or failed",
        .doc = "SKIPPED stays SKIPPED.",
        .course = &force_failure_course,
        .tick = outcome_tick,
        .never = force_never,
};
