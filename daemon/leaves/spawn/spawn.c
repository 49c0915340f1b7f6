/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Spawn: runs a program; its exit status decides the outcome. */

#include "leaves/spawn/spawn.h"
#include "leaves/kinds.h"
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
