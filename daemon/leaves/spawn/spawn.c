/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Spawn runs a program; its exit status decides the outcome. WriteFile is a Spawn of btd-write, which gets the text on
 * its standard input. Command is a condition on the exit status of a program that runs again and again.
 */

#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/span.h"
#include "basic/timers.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/write-file.h"
#include "leaves/kinds.h"
#include "leaves/spawn/spawn-execution.h"

typedef struct Spawn {
        Execution *execution;
} Spawn;

#define WRITE_ARGUMENTS_MAX 5u
#define WRITE_KILL_TIMEOUT_USEC (10 * UINT64_C(1000000))

typedef struct WriteFile {
        Spawn spawn; /* first: a WriteFile is a Spawn */
        SpawnParams params;
        const char *argv[WRITE_ARGUMENTS_MAX];
        char *program, *mode;
} WriteFile;

static const SpawnParams *write_file_params(Leaf *leaf) {
        const WriteFileParams *params = leaf->params;
        WriteFile *op = leaf->op;
        size_t n = 0;
        g_autofree char *btd = g_file_read_link("/proc/self/exe", NULL), *directory = g_path_get_dirname(btd ?: "/"),
                        *program = g_build_filename(directory, "btd-write", NULL);

        /* Beside btd, if btd is not installed. */
        op->program = access(BTD_WRITE, X_OK) < 0 && access(program, X_OK) >= 0 ? g_steal_pointer(&program)
                                                                                : g_strdup(BTD_WRITE);
        op->mode = params->mode ? g_strconcat("--mode=", params->mode, NULL) : NULL;
        op->argv[n++] = op->program;
        if (op->mode)
                op->argv[n++] = op->mode;
        if (params->append)
                op->argv[n++] = "--append";
        op->argv[n++] = params->path;
        g_assert(n < WRITE_ARGUMENTS_MAX);
        op->params = (SpawnParams){
                .argv = op->argv,
                .user = params->user,
                .group = params->group,
                .as = SPAWN_AS_AUTO,
                .input = params->text,
                .timeout = params->timeout,
                .kill_timeout = WRITE_KILL_TIMEOUT_USEC,
                .on_recover = params->on_recover,
        };
        return &op->params;
}

static Status spawn_start(Leaf *leaf) {
        const SpawnParams *params = leaf->type == &write_file_type ? write_file_params(leaf) : leaf->params;
        Spawn *op = leaf->op;

        return execution_new(leaf, params, 0, leaf_end, &op->execution) < 0 ? STATUS_FAILURE : STATUS_RUNNING;
}

static void on_left_ended(Leaf *leaf, Status status) {
        leaf_lost(leaf);
}

/* A unit outlives the daemon. A child ends with it; if it was left alone, only its parent could have learned its exit
 * status. */
static Status spawn_recover(Leaf *leaf) {
        const SpawnParams *params = leaf->type == &write_file_type ? write_file_params(leaf) : leaf->params;
        Spawn *op = leaf->op;

        if (!json_object_object_get(leaf->memo, "unit"))
                return execution_end_left(leaf, params, on_left_ended, &op->execution) < 0 ? STATUS_IDLE
                                                                                           : STATUS_RUNNING;

        return execution_recover(leaf, params, leaf_end, &op->execution) < 0 ? STATUS_FAILURE : STATUS_RUNNING;
}

static bool spawn_halt(Leaf *leaf) {
        Spawn *op = leaf->op;

        return execution_stop(op->execution);
}

static bool spawn_halts_at_once(const Leaf *leaf) {
        const Spawn *op = leaf->op;

        return execution_stops_at_once(op->execution);
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
        .halts_at_once = spawn_halts_at_once,
        .release = spawn_release,
        .describe = spawn_describe,
        .recover = spawn_recover,
        .reads = true,
};

static void write_file_release(Leaf *leaf) {
        WriteFile *op = leaf->op;

        spawn_release(leaf);
        g_free(op->program);
        g_free(op->mode);
}

const LeafKind write_file_kind = {
        .op_size = sizeof(WriteFile),
        .start = spawn_start,
        .halt = spawn_halt,
        .halts_at_once = spawn_halts_at_once,
        .release = write_file_release,
        .describe = spawn_describe,
        .recover = spawn_recover,
        .reads = true,
};

typedef struct Command {
        Execution *execution; /* NULL: between two executions */
        unsigned n_executions;
        Timer *timer; /* limits the execution, or the delay before the next one */
        bool timed_out;
} Command;

static void on_due(void *userdata);

static void set_timer(Leaf *leaf, uint64_t usec, TimerCallback callback) {
        Command *op = leaf->op;

        g_clear_pointer(&op->timer, timer_free);
        if (usec != SPAN_INFINITY)
                op->timer = timer_new_on(leaf->services->timers, leaf->clock,
                                         timers_now(leaf->services->timers, leaf->clock) + usec, callback, leaf);
}

/* May free the leaf. */
static void on_command_ended(Leaf *leaf, Status status) {
        const SpawnParams *params = leaf->params;
        Command *op = leaf->op;

        if (status == STATUS_FAILURE && !execution_has_run(op->execution))
                status = unknown_status(params->unknown);
        g_clear_pointer(&op->execution, execution_free);
        set_timer(leaf, params->interval, on_due);

        if (!op->timed_out)
                leaf_set_value(leaf, status);
}

/* The value does not wait until the process has ended. May free the leaf. */
static void on_timeout(void *userdata) {
        Leaf *leaf = userdata;
        const SpawnParams *params = leaf->params;
        Command *op = leaf->op;
        g_autofree char *span = span_format(params->timeout), *where = g_strdup_printf("timeout of %s", leaf->name);

        op->timed_out = true;
        if (execution_stop(op->execution))
                on_command_ended(leaf, STATUS_FAILURE);

        leaf_set_cause_of(leaf, CAUSE_TIMEOUT,
                          facts_new("limit", fact_text(span), "limit_usec", json_object_new_uint64(params->timeout),
                                    "where", fact_text(where), NULL),
                          "timed out after %s", span);
        leaf_set_value(leaf, STATUS_FAILURE);
}

static Status execute(Leaf *leaf) {
        const SpawnParams *params = leaf->params;
        Command *op = leaf->op;

        op->timed_out = false;
        if (execution_new(leaf, params, ++op->n_executions, on_command_ended, &op->execution) < 0) {
                set_timer(leaf, params->interval, on_due);
                return unknown_status(params->unknown);
        }

        set_timer(leaf, params->timeout, on_timeout);
        return STATUS_RUNNING;
}

static void on_due(void *userdata) {
        Leaf *leaf = userdata;
        Status status = execute(leaf);

        if (!((Command *) leaf->op)->execution)
                leaf_set_value(leaf, status);
}

static void on_left_command_ended(Leaf *leaf, Status status) {
        Command *op = leaf->op;

        g_clear_pointer(&op->execution, execution_free);
        on_due(leaf);
}

/* The program runs again, but not beside the process that a killed daemon has left. */
static Status command_recover(Leaf *leaf) {
        Command *op = leaf->op;

        op->n_executions = (unsigned) json_object_get_int64(json_object_object_get(leaf->memo, "repetition"));
        return execution_end_left(leaf, leaf->params, on_left_command_ended, &op->execution) < 0 ? execute(leaf)
                                                                                                 : STATUS_RUNNING;
}

static void command_release(Leaf *leaf) {
        Command *op = leaf->op;

        timer_free(op->timer);
        execution_free(op->execution);
}

static void command_describe(Leaf *leaf, GString *text) {
        const Command *op = leaf->op;

        if (op->execution)
                execution_describe(op->execution, text);
}

const LeafKind command_kind = {
        .op_size = sizeof(Command),
        .start = execute,
        .recover = command_recover,
        .acts = true,
        .release = command_release,
        .describe = command_describe,
};
