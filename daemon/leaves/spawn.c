/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Spawn: runs a program, as a transient unit where there is a systemd and else as a child, and judges how it ended.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "bus/buses.h"
#include "engine/tree.h"
#include "leaves/exit-status.h"
#include "leaves/registry.h"
#include "leaves/spawn-child.h"
#include "leaves/spawn-output.h"
#include "leaves/spawn-unit.h"
#include "leaves/spawn.h"
#include "leaves/systemd.h"

typedef struct Spawn {
        Call *looking; /* whether there is a systemd */
        SpawnOutput *output, *error;
        SpawnChild *child;
        SpawnUnit *unit;
        bool halting;
} Spawn;

static bool is_success(const SpawnParams *params, const SpawnEnd *end) {
        if (end->error || end->result || end->code != CLD_EXITED)
                return false;
        if (!params->success_exit)
                return end->status == 0;

        for (size_t i = 0; i < json_object_array_length(params->success_exit); i++)
                if (json_object_get_int(json_object_array_get_idx(params->success_exit, i)) == end->status)
                        return true;

        return false;
}

static void set_cause(Leaf *leaf, const SpawnEnd *end) {
        const Spawn *op = leaf->op;
        g_autofree char *how = NULL, *line = NULL;

        if (end->error) {
                leaf_set_cause(leaf, "%s", end->error);
                return;
        }

        how = exit_status_describe(end->code, end->status);
        if (end->result)
                leaf_set_cause(leaf, "%s (result '%s')", how, end->result);
        else if (op->error && (line = spawn_output_last_line(op->error)))
                leaf_set_cause(leaf, "%s: %s", how, line);
        else
                leaf_set_cause(leaf, "%s", how);
}

static void set_output(Leaf *leaf, const char *key, SpawnOutput *output) {
        if (!output)
                return;

        spawn_output_finish(output);
        leaf_set_output(leaf, key, spawn_output_to_json(output));
}

static void on_ended(const SpawnEnd *end, void *userdata) {
        Leaf *leaf = userdata;
        const SpawnParams *params = leaf->params;
        const Spawn *op = leaf->op;

        /* Whoever halts does not want to know. */
        if (op->halting) {
                leaf_end(leaf, STATUS_FAILURE);
                return;
        }

        if (!end->error) {
                set_output(leaf, params->stdout_key, op->output);
                set_output(leaf, params->stderr_key, op->error);
        }

        if (is_success(params, end)) {
                leaf_end(leaf, STATUS_SUCCESS);
                return;
        }

        set_cause(leaf, end);
        leaf_end(leaf, STATUS_FAILURE);
}

/* Text to be read from the beginning, however slowly. */
static int input_open(const char *text, int *ret_fd) {
        g_auto(AutoFd) fd = memfd_create("stdin", MFD_CLOEXEC);

        if (fd < 0)
                return -errno;

        for (size_t length = strlen(text); length > 0;) {
                ssize_t n = write(fd, text, length);

                if (n < 0)
                        return -errno;
                text += n;
                length -= (size_t) n;
        }

        if (lseek(fd, 0, SEEK_SET) < 0)
                return -errno;

        *ret_fd = fd;
        fd = -1;
        return 0;
}

static int open_fds(Leaf *leaf, int fds[static 3]) {
        const LogSubject subject = { .tree = leaf->tree, .run = leaf->run, .node = leaf->name };
        const SpawnParams *params = leaf->params;
        size_t limit = (size_t) params->output_limit;
        Spawn *op = leaf->op;
        int r = 0;

        if (params->input)
                r = input_open(params->input, &fds[STDIN_FILENO]);
        if (r >= 0 && params->stdout_key)
                r = spawn_output_new("stdout", limit, &subject, &op->output, &fds[STDOUT_FILENO]);
        if (r >= 0 && params->stderr_key)
                r = spawn_output_new("stderr", limit, &subject, &op->error, &fds[STDERR_FILENO]);

        return r;
}

static int begin_with(Leaf *leaf, Connection *connection, const int fds[static 3], char **ret_error) {
        const SpawnParams *params = leaf->params;
        Spawn *op = leaf->op;
        const SpawnRequest request = {
                .leaf = leaf,
                .params = params,
                .kill_signal = spawn_params_signal(params),
                .fds = { fds[0], fds[1], fds[2] },
        };

        if (connection)
                return spawn_unit_new(&request, connection, on_ended, leaf, &op->unit, ret_error);

        return spawn_child_new(&request, on_ended, leaf, &op->child, ret_error);
}

/* connection NULL: as a child. RUNNING, or FAILURE with its cause. */
static Status begin(Leaf *leaf, Connection *connection) {
        g_autofree char *error = NULL;
        int fds[3] = { -1, -1, -1 }, r;

        r = open_fds(leaf, fds);
        if (r < 0)
                error = g_strdup_printf("cannot make pipes to the process: %s", g_strerror(-r));
        else
                r = begin_with(leaf, connection, fds, &error);

        for (size_t i = 0; i < G_N_ELEMENTS(fds); i++)
                if (fds[i] >= 0)
                        close(fds[i]);

        if (r >= 0)
                return STATUS_RUNNING;

        leaf_set_cause(leaf, "%s", error);
        return STATUS_FAILURE;
}

/* Properties can be had from systemd only: without them it would not be what was asked for. */
static bool can_be_child(const SpawnParams *params) {
        return params->as == SPAWN_AS_CHILD || (params->as == SPAWN_AS_AUTO && !params->properties);
}

static void on_looked(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Leaf *leaf = userdata;
        Spawn *op = leaf->op;
        Connection *connection = NULL;
        int there = false;

        if (reply)
                (void) sd_bus_message_read(reply, "b", &there);
        if (there)
                (void) buses_get(leaf->services->buses, NULL, &connection, NULL);

        if (!connection && !can_be_child(leaf->params)) {
                leaf_set_cause(leaf, "cannot make a unit: %s",
                               error ? error->message : "there is no systemd on this bus");
                leaf_end(leaf, STATUS_FAILURE);
                return;
        }

        g_clear_pointer(&op->looking, call_free);
        if (begin(leaf, connection) != STATUS_RUNNING)
                leaf_end(leaf, STATUS_FAILURE);
}

static Status spawn_start(Leaf *leaf) {
        const SpawnParams *params = leaf->params;
        Spawn *op = leaf->op;
        g_autofree char *error = spawn_params_complaint(params);
        Connection *connection;

        if (!error && can_be_child(params) && (params->as == SPAWN_AS_CHILD || sd_booted() <= 0))
                return begin(leaf, NULL);

        if (error || buses_get(leaf->services->buses, NULL, &connection, &error) < 0) {
                leaf_set_cause(leaf, "%s", error);
                return STATUS_FAILURE;
        }

        op->looking = systemd_look(connection, on_looked, leaf);
        return STATUS_RUNNING;
}

static bool spawn_halt(Leaf *leaf) {
        Spawn *op = leaf->op;

        op->halting = true;
        if (op->unit)
                return spawn_unit_stop(op->unit);
        if (!op->child)
                return true;

        spawn_child_stop(op->child);
        return false;
}

static void spawn_release(Leaf *leaf) {
        Spawn *op = leaf->op;

        call_free(op->looking);
        spawn_child_free(op->child);
        spawn_unit_free(op->unit);
        spawn_output_free(op->output);
        spawn_output_free(op->error);
}

static void spawn_describe(Leaf *leaf, GString *text) {
        const Spawn *op = leaf->op;

        if (op->child)
                spawn_child_describe(op->child, text);
        else if (op->unit)
                spawn_unit_describe(op->unit, text);
        else
                g_string_append(text, "the bus");
}

static char *spawn_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        *ret_is_error = true;
        return spawn_params_complaint(tree->nodes[node].params);
}

static const LeafKind spawn_kind = {
        .op_size = sizeof(Spawn),
        .has_timeout = true,
        .timeout_offset = offsetof(SpawnParams, timeout),
        .start = spawn_start,
        .halt = spawn_halt,
        .release = spawn_release,
        .describe = spawn_describe,
};

const NodeType spawn_type = {
        .name = "Spawn",
        .class = NODE_ACTION,
        .params = spawn_params,
        .params_size = sizeof(SpawnParams),
        .summary = "Runs a program and waits for its end",
        .doc = "Succeeds when it exits with a status in success_exit. As a transient unit it has a control group and a "
               "journal of its own, any property that systemd knows, and nothing of the daemon's sandbox. As a child "
               "it has a process group of its own.\n\n"
               "Whatever it has started and left running is ended with it: use StartUnit for what is to stay. A "
               "child's "
               "descendants can escape that by leaving their process group, a unit's cannot.",
        .check = spawn_check,
        .leaf = &spawn_kind,
};
