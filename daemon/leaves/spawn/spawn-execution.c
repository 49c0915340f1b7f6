/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs a program for a leaf. First it checks for systemd, unless the process must be a child, or the system was not
 * booted with systemd. A systemd that was there before will come back, and the unit waits for it. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "bus/buses.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/spawn/exit-status.h"
#include "leaves/spawn/spawn-child.h"
#include "leaves/spawn/spawn-execution.h"
#include "leaves/spawn/spawn-name.h"
#include "leaves/spawn/spawn-output.h"
#include "leaves/spawn/spawn-unit.h"
#include "leaves/unit/systemd.h"

struct Execution {
        Leaf *leaf;
        const SpawnParams *params;
        unsigned repetition;
        ExecutionEnded ended;
        Call *looking; /* the query whether there is a systemd */
        SpawnOutput *output, *error;
        SpawnChild *child;
        SpawnUnit *unit;
        bool stopping, has_run;
        bool recovering;
        const char *lost; /* "stdout": what it has written there was not kept; or NULL */
};

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

/* Which of its outputs the process may not have been able to write, and where: it has got an error then, as where any
 * file system is full. */
static char *describe_lack_of_room(const Execution *execution) {
        const char *output = execution->output ? spawn_output_lacked_room(execution->output) : NULL,
                   *error = execution->error ? spawn_output_lacked_room(execution->error) : NULL;

        if (!output && !error)
                return NULL;

        return g_strdup_printf("the file system of %s was full, so it may not have been able to write its %s",
                               output ?: error, output ? "stdout" : "stderr");
}

static char *end_describe(const Execution *execution, const SpawnEnd *end) {
        g_autofree char *how = NULL, *line = NULL;

        if (end->error)
                return g_strdup(end->error);

        how = exit_status_describe(end->code, end->status);
        if (end->result)
                return g_strdup_printf("%s (result '%s')", how, end->result);
        if (execution->error && (line = spawn_output_last_line(execution->error)))
                return g_strdup_printf("%s: %s", how, line);

        return g_steal_pointer(&how);
}

static const char *end_kind(const SpawnEnd *end) {
        if (end->result)
                return CAUSE_UNIT_RESULT;
        if (end->code == 0)
                return CAUSE_FAILED;

        return end->code == CLD_EXITED ? CAUSE_EXIT_STATUS : CAUSE_SIGNAL;
}

static void set_cause(const Execution *execution, const SpawnEnd *end) {
        g_autofree char *how = end_describe(execution, end),
                        *room = end->error ? NULL : describe_lack_of_room(execution),
                        *text = room ? g_strconcat(how, "; ", room, NULL) : g_strdup(how);
        json_object *facts =
                facts_new("program", fact_text(execution->params->argv[0]), "result", fact_text(end->result), "unit",
                          fact_text(end->unit), "invocation_id", fact_text(end->invocation_id), NULL);

        exit_status_add_facts(end->code, end->status, facts);
        leaf_set_cause_of(execution->leaf, end_kind(end), facts, "%s", text);
}

static void set_output(Leaf *leaf, const char *key, SpawnOutput *output) {
        if (!output)
                return;

        spawn_output_finish(output);
        leaf_set_output(leaf, key, spawn_output_to_json(output));
}

static void execution_end(Execution *execution, Status status) {
        execution->ended(status, execution->leaf);
}

/* The process has succeeded, but its output may be incomplete. */
static void warn_of_lack_of_room(const Execution *execution) {
        const Leaf *leaf = execution->leaf;
        g_autofree char *room = describe_lack_of_room(execution);

        if (room)
                log_message(LOG_WARNING, &(LogSubject){ leaf->tree, leaf->run, leaf->name }, "succeeded, but %s", room);
}

static void on_ended(const SpawnEnd *end, void *userdata) {
        Execution *execution = userdata;
        const SpawnParams *params = execution->params;

        execution->has_run = !end->error;

        /* Ignore the exit status of a halted node. */
        if (execution->stopping) {
                execution_end(execution, STATUS_FAILURE);
                return;
        }

        if (!end->error && !execution->lost) {
                set_output(execution->leaf, params->stdout_key, execution->output);
                set_output(execution->leaf, params->stderr_key, execution->error);
        }

        if (!is_success(params, end)) {
                set_cause(execution, end);
                execution_end(execution, STATUS_FAILURE);
        } else if (execution->lost) {
                leaf_set_cause_of(execution->leaf, CAUSE_LOST, NULL,
                                  "it succeeded, but the daemon was restarted meanwhile, and its %s was not kept",
                                  execution->lost);
                execution_end(execution, STATUS_FAILURE);
        } else {
                warn_of_lack_of_room(execution);
                execution_end(execution, STATUS_SUCCESS);
        }
}

bool execution_has_run(const Execution *execution) {
        return execution->has_run;
}

/* A file with the text, which the process reads at its own speed. */
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

/* Does it outlive the daemon? Conditions start again. */
static bool is_lasting(const Execution *execution, bool as_unit) {
        const Leaf *leaf = execution->leaf;

        return as_unit && leaf->durable && leaf->type->class == NODE_ACTION;
}

static char *output_path(const Execution *execution, const char *what) {
        g_autofree char *name = spawn_name_format(execution->leaf, 0), *file = g_strconcat(name, ".", what, NULL);

        return g_build_filename(execution->leaf->services->outputs, file, NULL);
}

/* If there can be no file, a pipe is used. */
static int open_output(Execution *execution, const char *what, bool lasting, SpawnOutput **ret_output, int *ret_fd) {
        const Leaf *leaf = execution->leaf;
        const LogSubject subject = { .tree = leaf->tree, .run = leaf->run, .node = leaf->name };
        size_t limit = (size_t) execution->params->output_limit;
        g_autofree char *path = NULL;
        int r;

        if (!leaf->services->outputs || !(lasting || execution->recovering))
                return spawn_output_new(what, limit, &subject, ret_output, ret_fd);

        path = output_path(execution, what);
        r = spawn_output_new_file(what, limit, &subject, path, !execution->recovering, ret_output, ret_fd);
        if (r >= 0)
                return r;

        if (execution->recovering)
                execution->lost = what;
        else
                log_message(LOG_WARNING, &subject,
                            "a restart of the daemon would lose its %s, since %s is not available: %s", what, path,
                            g_strerror(-r));
        return spawn_output_new(what, limit, &subject, ret_output, ret_fd);
}

static int open_fds(Execution *execution, bool lasting, int fds[static 3]) {
        const SpawnParams *params = execution->params;
        int r = 0;

        if (params->input)
                r = input_open(params->input, &fds[STDIN_FILENO]);
        if (r >= 0 && params->stdout_key)
                r = open_output(execution, "stdout", lasting, &execution->output, &fds[STDOUT_FILENO]);
        if (r >= 0 && params->stderr_key)
                r = open_output(execution, "stderr", lasting, &execution->error, &fds[STDERR_FILENO]);

        return r;
}

/* The memo for the next daemon: whether to look for a unit or a child. */
static void remember(const Execution *execution, bool as_unit) {
        json_object *memory;

        if (execution->leaf->type->class != NODE_ACTION)
                return;

        memory = json_object_new_object();
        json_object_object_add(memory, as_unit ? "unit" : "child", json_object_new_boolean(true));
        leaf_set_memo(execution->leaf, memory);
}

static int begin_with(Execution *execution, Connection *connection, int fds[static 3], char **ret_error) {
        const SpawnRequest request = {
                .leaf = execution->leaf,
                .params = execution->params,
                .repetition = execution->repetition,
                .recovering = execution->recovering,
                .kill_signal = spawn_params_signal(execution->params),
                .fds = { fds[0], fds[1], fds[2] },
        };

        if (connection)
                return spawn_unit_new(&request, connection, on_ended, execution, &execution->unit, ret_error);

        execution->child = spawn_child_new(&request, on_ended, execution);
        fds[0] = fds[1] = fds[2] = -1;
        return 0;
}

/* connection NULL: as a child. */
static int begin(Execution *execution, Connection *connection) {
        g_autofree char *error = NULL;
        int fds[3] = { -1, -1, -1 }, r;

        r = open_fds(execution, is_lasting(execution, connection), fds);
        if (r < 0) {
                error = g_strdup_printf("cannot make pipes to the process: %s", g_strerror(-r));
        } else {
                remember(execution, connection);
                r = begin_with(execution, connection, fds, &error);
        }

        for (size_t i = 0; i < G_N_ELEMENTS(fds); i++)
                if (fds[i] >= 0)
                        close(fds[i]);

        if (r < 0)
                set_cause(execution, &(SpawnEnd){ .error = error });
        return r;
}

/* Only systemd can set properties; a process without them is not the requested one. */
static bool can_be_child(const SpawnParams *params) {
        return params->as == SPAWN_AS_CHILD || (params->as == SPAWN_AS_AUTO && !params->properties);
}

static void on_looked(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        Execution *execution = userdata;
        Connection *connection = NULL;
        int there = false;

        if (reply)
                (void) sd_bus_message_read(reply, "b", &there);
        (void) buses_get(execution->leaf->services->buses, NULL, NULL, &connection, NULL);
        if (!there && !systemd_is_expected(connection))
                connection = NULL;

        if (!connection && !can_be_child(execution->params)) {
                leaf_set_cause_of(execution->leaf, error ? dbus_error_kind(error) : CAUSE_FAILED,
                                  error ? dbus_error_facts(error) : NULL, "cannot make a unit: %s",
                                  error ? error->message : "there is no systemd on this bus");
                execution_end(execution, STATUS_FAILURE);
                return;
        }

        g_clear_pointer(&execution->looking, call_free);
        if (begin(execution, connection) < 0)
                execution_end(execution, STATUS_FAILURE);
}

static int look_for_systemd(Execution *execution) {
        g_autofree char *error = NULL;
        Connection *connection;
        int r;

        r = buses_get(execution->leaf->services->buses, NULL, NULL, &connection, &error);
        if (r < 0) {
                leaf_set_cause_of(execution->leaf, CAUSE_PARAMETER, NULL, "%s", error);
                return r;
        }

        if (systemd_is_expected(connection))
                return begin(execution, connection);

        execution->looking = systemd_look(connection, on_looked, execution);
        return 0;
}

int execution_new(Leaf *leaf, const SpawnParams *params, unsigned repetition, ExecutionEnded ended,
                  Execution **ret_execution) {
        g_autoptr(Execution) execution = NULL;
        int r;

        /* That of a file is found when it is loaded. */
        if (params->properties && params->as == SPAWN_AS_CHILD) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL,
                                  "properties: cannot be given together with \"as\": \"child\"; only a unit has "
                                  "properties");
                return -EINVAL;
        }

        execution = g_new(Execution, 1);
        *execution = (Execution){ .leaf = leaf, .params = params, .repetition = repetition, .ended = ended };

        if (can_be_child(params) && (params->as == SPAWN_AS_CHILD || sd_booted() <= 0))
                r = begin(execution, NULL);
        else
                r = look_for_systemd(execution);
        if (r < 0)
                return r;

        *ret_execution = g_steal_pointer(&execution);
        return 0;
}

int execution_recover(Leaf *leaf, const SpawnParams *params, ExecutionEnded ended, Execution **ret_execution) {
        g_autoptr(Execution) execution = g_new(Execution, 1);
        Connection *connection;
        g_autofree char *error = NULL;
        int r;

        *execution = (Execution){ .leaf = leaf, .params = params, .ended = ended, .recovering = true };
        r = buses_get(leaf->services->buses, NULL, NULL, &connection, &error);
        if (r < 0)
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
        else
                r = begin(execution, connection);
        if (r < 0)
                return r;

        *ret_execution = g_steal_pointer(&execution);
        return 0;
}

bool execution_stop(Execution *execution) {
        execution->stopping = true;
        if (execution->unit)
                return spawn_unit_stop(execution->unit);
        if (!execution->child)
                return true;

        spawn_child_stop(execution->child);
        return false;
}

void execution_free(Execution *execution) {
        if (!execution)
                return;

        call_free(execution->looking);
        spawn_child_free(execution->child);
        if (execution->leaf->abandoned && is_lasting(execution, execution->unit)) {
                spawn_unit_abandon(execution->unit);
                spawn_output_abandon(execution->output);
                spawn_output_abandon(execution->error);
        } else {
                spawn_unit_free(execution->unit);
                spawn_output_free(execution->output);
                spawn_output_free(execution->error);
        }
        g_free(execution);
}

void execution_describe(const Execution *execution, GString *text) {
        if (execution->child)
                spawn_child_describe(execution->child, text);
        else if (execution->unit)
                spawn_unit_describe(execution->unit, text);
        else
                g_string_append(text, "the bus");
}
