/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Spawn: runs a program; its exit status decides the outcome. */

#include "leaves/spawn/spawn.h"
#include "engine/tree.h"
#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "leaves/spawn/spawn-execution.h"

typedef struct Spawn {
        Execution *execution;
} Spawn;

static void on_ended(Status status, Leaf *leaf) {
        leaf_end(leaf, status);
}

static Status spawn_start(Leaf *leaf) {
        Spawn *op = leaf->op;

        return execution_new(leaf, leaf->params, 0, on_ended, &op->execution) < 0 ? STATUS_FAILURE : STATUS_RUNNING;
}

/* A unit outlives the daemon, a child does not. */
static Status spawn_recover(Leaf *leaf) {
        json_object *unit = NULL;
        Spawn *op = leaf->op;

        if (!json_object_object_get_ex(leaf->memo, "unit", &unit))
                return STATUS_IDLE;

        return execution_recover(leaf, leaf->params, on_ended, &op->execution) < 0 ? STATUS_FAILURE : STATUS_RUNNING;
}

static bool spawn_halt(Leaf *leaf) {
        Spawn *op = leaf->op;

        return execution_stop(op->execution);
}

static void spawn_release(Leaf *leaf) {
        Spawn *op = leaf->op;

        execution_free(op->execution);
}

static void spawn_describe(Leaf *leaf, GString *text) {
        const Spawn *op = leaf->op;

        execution_describe(op->execution, text);
}

const LeafKind spawn_kind = {
        .op_size = sizeof(Spawn),
        .start = spawn_start,
        .halt = spawn_halt,
        .release = spawn_release,
        .describe = spawn_describe,
        .recover = spawn_recover,
};

const NodeType spawn_type = {
        .name = "Spawn",
        .class = NODE_ACTION,
        .params = spawn_params,
        .params_size = sizeof(SpawnParams),
        .rules = spawn_rules,
        .summary = "Runs a program and waits for its end",
        .doc = "Succeeds when it exits with a status in success_exit. As a transient unit it has a control group and a "
               "journal of its own, any property that systemd knows, and nothing of the daemon's sandbox. As a child "
               "it has a process group of its own.\n\n"
               "Whatever it has started and left running is ended with it: use StartUnit for what is to stay. A "
               "child's "
               "descendants can escape that by leaving their process group, a unit's cannot.",
        .check = spawn_params_check,
        .has_timeout = true,
        .timeout_offset = offsetof(SpawnParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(SpawnParams, on_recover),
};
