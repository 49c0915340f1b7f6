/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs a program for a leaf. First it checks for systemd, unless the process must be a child, or the system was not
 * booted with systemd. A systemd that was there before will come back, and the unit waits for it.
 *
 * An output of the process is captured through a pipe; or, if the process may outlive the daemon, in a file for the
 * next daemon. Data beyond the limit is dropped (in a file, it leaves a hole), so that a full pipe does not block the
 * process, and a file does not fill the memory.
 *
 * What the process writes to its standard error goes to the journal, and its last lines are part of the cause of a
 * failure. Where btd reads it, btd passes the lines on as they come, and has the last ones. A unit writes to the
 * journal itself, and outlives btd: its last lines are read back from there, only if it has failed.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "basic/excerpt.h"
#include "basic/json-parse.h"
#include "basic/json-weight.h"
#include "basic/log.h"
#include "basic/write-all.h"
#include "bus/buses.h"
#include "leaves/dbus/dbus-leaf.h"
#include "leaves/log-tail.h"
#include "leaves/path/path-watch.h"
#include "leaves/spawn/fd-watch.h"
#include "leaves/spawn/spawn-execution.h"
#include "leaves/spawn/spawn-process.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-cause.h"
#include "script/secrets.h"

#define READ_SIZE (16 * 1024u)
#define BLOCK_SIZE 4096u

/* A longer line goes to the journal in pieces. */
#define LINE_LENGTH_MAX (16 * 1024u)

/* The main loop takes an output apart that becomes a list or a JSON value, so it must not be long. */
#define FORMATTED_OUTPUT_MAX (1024 * 1024u)

/* How much a file may exceed the limit before the excess is dropped. */
#define EXCESS (1024 * 1024u)

/* A pipe holds no more than this at once: see pipe(7), pipe-max-size. */
#define PIPE_SIZE_MAX (1024 * 1024u)

typedef struct Output {
        const char *what; /* "stdout" or "stderr", for messages */
        Leaf *leaf;
        LogSubject subject;
        char *path;         /* of the file; NULL: it is a pipe */
        char *directory;    /* of that */
        int fd;             /* to read from; -1: the other end was closed */
        FdWatch *watch;     /* of a pipe */
        FileWatch *changes; /* of a file */
        bool kept;          /* for a variable */
        GString *text;
        size_t limit;
        size_t room; /* with what a secret can need that begins before the limit */
        bool exceeded;
        bool was_full; /* the file system */

        /* Only for stderr: the identifier of its lines in the journal; NULL: they do not go there. */
        char *identifier;
        GString *line; /* the last one, until it is complete */
        GString *tail; /* the end of all */
        bool tail_cut;
} Output;

static void output_close(Output *output) {
        g_clear_pointer(&output->watch, fd_watch_free);
        g_clear_pointer(&output->changes, file_watch_free);
        if (output->fd >= 0)
                close(output->fd);
        output->fd = -1;
}

/* Keeps the file. */
static void output_abandon(Output *output) {
        if (!output)
                return;

        output_close(output);
        g_string_free(output->text, true);
        g_string_free(output->line, true);
        g_string_free(output->tail, true);
        g_free(output->identifier);
        g_free(output->directory);
        g_free(output->path);
        g_free(output);
}

/* Removes the file, too. */
static void output_free(Output *output) {
        if (!output)
                return;

        if (output->path)
                (void) unlink(output->path);
        output_abandon(output);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Output, output_free)

static void output_tell_exceeded(Output *output) {
        if (output->exceeded)
                return;

        output->exceeded = true;
        log_message(LOG_WARNING, &output->subject, "%s is longer than %zu bytes (output_limit), the rest is dropped",
                    output->what, output->limit);
}

static void output_pass_line(Output *output) {
        g_autofree char *valid = NULL, *hidden = NULL;

        if (leaf_secret_length(output->leaf) > 0) {
                valid = g_utf8_make_valid(output->line->str, (gssize) output->line->len);
                hidden = leaf_hide_secrets(output->leaf, valid);
        }
        log_line(output->identifier, hidden ?: output->line->str);
        g_string_truncate(output->line, 0);
}

static void output_keep(Output *output, const char *data, size_t length) {
        size_t room = log_tail_room(output->leaf);

        for (size_t i = 0; output->identifier && i < length; i++) {
                if (data[i] != '\n')
                        g_string_append_c(output->line, data[i]);
                if (data[i] == '\n' || output->line->len >= LINE_LENGTH_MAX)
                        output_pass_line(output);
        }
        if (output->identifier)
                g_string_append_len(output->tail, data, (gssize) length);
        if (output->tail->len > room) {
                g_string_erase(output->tail, 0, (gssize) (output->tail->len - room));
                output->tail_cut = true;
        }
        if (!output->kept)
                return;

        if (length > output->limit - MIN(output->limit, output->text->len))
                output_tell_exceeded(output);
        g_string_append_len(output->text, data, (gssize) MIN(length, output->room - output->text->len));
}

/* False: there is no more data now, or ever. */
static bool output_read(Output *output) {
        char data[READ_SIZE];
        ssize_t n;

        if (output->fd < 0)
                return false;

        n = read(output->fd, data, sizeof(data));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        if (n <= 0) {
                output_close(output);
                return false;
        }

        output_keep(output, data, (size_t) n);
        return true;
}

static void on_readable(void *userdata) {
        (void) output_read(userdata);
}

static Output *output_new(Leaf *leaf, const char *what, size_t limit) {
        Output *output = g_new(Output, 1);

        *output = (Output){
                .what = what,
                .leaf = leaf,
                .limit = limit,
                .room = limit + leaf_secret_length(leaf),
                .subject = leaf_log_subject(leaf),
                .text = g_string_new(NULL),
                .line = g_string_new(NULL),
                .tail = g_string_new(NULL),
                .fd = -1,
        };
        return output;
}

/* ret_fd: the end for the process, to be closed by the caller. */
static int output_new_pipe(Leaf *leaf, const char *what, size_t limit, Output **ret_output, int *ret_fd) {
        g_autoptr(Output) output = output_new(leaf, what, limit);
        g_auto(AutoFd) other = -1;
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        output->fd = fds[0];
        other = fds[1];

        /* The end of the pipe that the process gets must be blocking, as processes expect. */
        if (fcntl(output->fd, F_SETFL, O_NONBLOCK) < 0)
                return -errno;

        r = fd_watch_new(leaf->services->fd_watches, output->fd, on_readable, output, &output->watch);
        if (r < 0)
                return r;

        *ret_output = g_steal_pointer(&output);
        *ret_fd = other;
        other = -1;
        return 0;
}

/* Some file systems have no size, such as ramfs. */
static void output_check_room(Output *output) {
        struct statvfs st;

        if (fstatvfs(output->fd, &st) >= 0 && st.f_blocks > 0 && st.f_bavail == 0)
                output->was_full = true;
}

/* Only whole blocks can be turned into a hole. */
static void on_file_changed(void *userdata) {
        Output *output = userdata;
        off_t end = (off_t) ((output->room / BLOCK_SIZE + 1) * BLOCK_SIZE);
        struct stat st;

        /* A write that fails for lack of room is not reported; the last write that succeeded is. */
        output_check_room(output);
        if (fstat(output->fd, &st) < 0 || st.st_size <= end)
                return;

        (void) fallocate(output->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, end, st.st_size - end);
        output_tell_exceeded(output);
}

/* The same in a file. fresh: the file is created or emptied, and -ENOSPC is also returned if the file system is nearly
 * full; otherwise the file must exist. */
static int output_new_file(Leaf *leaf, const char *what, size_t limit, const char *path, bool fresh,
                           Output **ret_output, int *ret_fd) {
        g_autoptr(Output) output = output_new(leaf, what, limit);
        g_auto(AutoFd) other = -1;
        struct statvfs st;
        int r;

        output->directory = g_path_get_dirname(path);
        if (fresh)
                (void) g_mkdir_with_parents(output->directory, 0700);
        other = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_CREAT | O_TRUNC : 0), 0600);
        if (other < 0)
                return -errno;

        /* Otherwise the process would fail. Some file systems have no size, such as ramfs. */
        if (fresh && fstatvfs(other, &st) >= 0 && st.f_blocks > 0 &&
            (uint64_t) st.f_bavail * st.f_frsize < (uint64_t) limit + EXCESS) {
                (void) unlink(path);
                return -ENOSPC;
        }

        output->path = g_strdup(path);
        output->fd = open(path, O_RDWR | O_CLOEXEC);
        if (output->fd < 0)
                return -errno;

        r = file_watch_new(leaf->services->path_watches, path, on_file_changed, output, &output->changes);
        if (r < 0)
                return r;

        *ret_output = g_steal_pointer(&output);
        *ret_fd = other;
        other = -1;
        return 0;
}

/* Reads the rest. Other processes may have the other end of a pipe, so this does not wait for it to be closed. */
static void output_finish(Output *output, Leaf *leaf) {
        g_autofree char *valid = NULL, *hidden = NULL;
        char data[READ_SIZE];
        off_t offset = 0;
        ssize_t n;

        if (output->path) {
                while ((!output->exceeded || output->text->len < output->room) &&
                       (n = pread(output->fd, data, sizeof(data), offset)) > 0) {
                        output_keep(output, data, (size_t) n);
                        offset += n;
                }
                output_check_room(output);
        } else {
                /* A process that writes forever must not block this. */
                for (size_t i = 0; i < PIPE_SIZE_MAX / READ_SIZE && output_read(output); i++)
                        ;
        }
        output_close(output);
        if (output->line->len > 0)
                output_pass_line(output);
        if (leaf_secret_length(leaf) == 0)
                return;

        /* Hides secrets while they are whole, and cuts the text then. */
        valid = g_utf8_make_valid(output->text->str, (gssize) output->text->len);
        hidden = leaf_hide_secrets(leaf, valid);
        g_string_assign(output->text, hidden ?: valid);
        g_string_truncate(output->text, output->limit);
}

/* Has the process written to the file, also for a previous daemon? */
static bool output_was_used(const Output *output) {
        struct stat st;

        return output && output->path && fstat(output->fd, &st) >= 0 && st.st_size > 0;
}

static json_object *list_of(const char *text, const char *separators, bool with_empty) {
        json_object *list = json_object_new_array();

        for (const char *end; *text; text = *end ? end + 1 : end) {
                end = text + strcspn(text, separators);
                if (with_empty || end > text)
                        json_object_array_add(list, json_object_new_string_len(text, (int) (end - text)));
        }

        return list;
}

struct Execution {
        Leaf *leaf;
        const SpawnParams *params;
        unsigned repetition;
        ExecutionEnded ended;
        Call *query; /* whether there is a systemd */
        Output *output, *error;
        SpawnChild *child;
        SpawnUnit *unit;
        bool stopping, has_run;
        bool recovering;
        bool confirmed;   /* systemd has the unit */
        const char *lost; /* "stdout": what it has written there was not kept; or NULL */
        /* The unit has failed, and its last lines are read; then the execution has ended. */
        LogTail *tail;
        SpawnEnd end; /* its texts belong to the execution */
};

/* The output without a newline at the end; invalid UTF-8 is replaced, except in JSON. secret: do not quote it. */
static int output_to_json(const Execution *execution, const Output *output, OutputFormat format, bool secret,
                          json_object **ret_value, char **ret_problem) {
        const LogSubject subject = leaf_log_subject(execution->leaf);
        const GString *text = output->text;
        bool ends = text->len > 0 && text->str[text->len - 1] == '\n';
        size_t length = ends ? text->len - 1 : text->len;
        g_autofree char *valid = NULL;

        if (format != OUTPUT_TEXT && text->len > FORMATTED_OUTPUT_MAX) {
                *ret_problem = g_strdup_printf("its %s is longer than %u bytes, so it can only be kept as text",
                                               output->what, FORMATTED_OUTPUT_MAX);
                return -E2BIG;
        }
        if (format == OUTPUT_JSON) {
                const Limits *limits = blackboard_limits(execution->leaf->blackboard);
                g_autofree char *number = NULL, *shown = NULL;
                int r;

                if (json_text_weight(text->str, text->len) > blackboard_bytes_max(limits)) {
                        shown = blackboard_full_text(limits);
                        *ret_problem = g_strdup_printf("its %s has too many values: %s", output->what, shown);
                        return -EFBIG;
                }
                r = json_parse(text->str, text->len, JSON_NESTING_MAX, ret_value, &number);
                if (r >= 0)
                        return 0;

                shown = secret ? g_strdup(SECRET_SHOWN) : excerpt(text->str, length);
                if (number)
                        *ret_problem = g_strdup_printf("its %s has the number %s, which does not fit into 64 bits",
                                                       output->what, secret ? SECRET_SHOWN : number);
                else if (r == -E2BIG)
                        *ret_problem = g_strdup_printf("its %s is " JSON_TOO_DEEP, output->what);
                else
                        *ret_problem = g_strdup_printf("its %s is not JSON: %s", output->what,
                                                       *shown ? shown : "there is none");
                return r;
        }
        if (format == OUTPUT_BYTES) {
                *ret_value = json_object_new_array_ext((int) text->len);
                for (size_t i = 0; i < text->len; i++)
                        json_object_array_add(*ret_value, json_object_new_int((uint8_t) text->str[i]));
                return 0;
        }

        if (!g_utf8_validate_len(text->str, length, NULL))
                log_message(LOG_NOTICE, &subject, "its %s is not UTF-8, so some bytes are replaced%s", output->what,
                            output == execution->output ? "; \"stdout_format\": \"bytes\" keeps them" : "");
        valid = g_utf8_make_valid(text->str, (gssize) length);
        *ret_value = format == OUTPUT_LINES   ? list_of(valid, "\n", true)
                     : format == OUTPUT_WORDS ? list_of(valid, " \t\n\v\f\r", false)
                                              : json_object_new_string(valid);
        return 0;
}

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

/* Describes which of its outputs the process may not have been able to write because the file system was full, and
 * where. The process has then got an error from write(). */
static char *describe_lack_of_room(const Execution *execution) {
        Output *const outputs[] = { execution->output, execution->error };

        for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++)
                if (outputs[i] && outputs[i]->was_full)
                        return g_strdup_printf("the file system of %s was full, so it may not have been able to write "
                                               "its %s",
                                               outputs[i]->directory, outputs[i]->what);

        return NULL;
}

/* words: the last lines of its standard error, or NULL. */
static void set_cause(const Execution *execution, const SpawnEnd *end, const char *words) {
        const char *kind = end->result               ? CAUSE_UNIT_RESULT
                           : end->code == 0          ? CAUSE_FAILED
                           : end->code == CLD_EXITED ? CAUSE_EXIT_STATUS
                                                     : CAUSE_SIGNAL;
        g_autofree char *how = NULL, *result = NULL, *room = NULL, *text = NULL;
        json_object *facts =
                facts_new("program", fact_text(execution->params->argv[0]), "result", fact_text(end->result), "unit",
                          fact_text(end->unit), "invocation_id", fact_text(end->invocation_id), NULL);

        exit_status_add_facts(end->code, end->status, facts);
        if (!end->error) {
                how = exit_status_describe(end->code, end->status);
                result = end->result ? g_strdup_printf(" (result '%s')", end->result) : NULL;
                room = describe_lack_of_room(execution);
                text = g_strconcat(how, result ?: "", words ? ": " : "", words ?: "", room ? "; " : "", room, NULL);
        }
        leaf_set_cause_of(execution->leaf, kind, facts, "%s", text ?: end->error);
}

/* NULL: there is no problem. Of a program that has failed, it is not told. */
static char *set_output(Execution *execution, const char *key, Output *output, OutputFormat format) {
        bool is_cut = output && output->exceeded && !execution->params->cut_output;
        json_object *value = NULL;
        char *problem = NULL;

        if (!output)
                return NULL;

        if (output_to_json(execution, output, format, blackboard_seals(execution->leaf->blackboard, key), &value,
                           &problem) >= 0)
                leaf_set_output(execution->leaf, key, value);
        if (!is_cut)
                return problem;

        g_free(problem);
        return g_strdup_printf("its %s is longer than %zu bytes; set a larger output_limit, or cut_output to true",
                               output->what, output->limit);
}

static void on_tail_read(const char *words, void *userdata) {
        Execution *execution = userdata;

        set_cause(execution, &execution->end, words);
        execution->ended(execution->leaf, STATUS_FAILURE);
}

static void fail(Execution *execution, const SpawnEnd *end) {
        const LeafServices *services = execution->leaf->services;
        const Output *error = execution->error;
        g_autofree char *words = NULL;

        if (!end->error && !error && end->invocation_id && services->journal_readers) {
                execution->end = *end;
                execution->end.result = g_strdup(end->result);
                execution->end.unit = g_strdup(end->unit);
                execution->end.invocation_id = g_strdup(end->invocation_id);
                execution->tail = log_tail_new(execution->leaf, end->unit, end->invocation_id, on_tail_read, execution);
                return;
        }

        if (error)
                words = log_tail_quote(execution->leaf, error->tail->str, error->tail->len, error->tail_cut);
        set_cause(execution, end, words);
        execution->ended(execution->leaf, STATUS_FAILURE);
}

static void on_ended(const SpawnEnd *end, void *userdata) {
        Execution *execution = userdata;
        const SpawnParams *params = execution->params;
        g_autofree char *problem = NULL;

        /* The unit is still there, and may change. */
        if (execution->tail)
                return;

        execution->has_run = !end->error;

        /* Ignore the exit status of a halted node. */
        if (execution->stopping) {
                execution->ended(execution->leaf, STATUS_FAILURE);
                return;
        }
        if (end->gone) {
                leaf_lost(execution->leaf);
                return;
        }
        if (execution->recovering && end->time > 0)
                leaf_read(execution->leaf, end->time);

        if (execution->output)
                output_finish(execution->output, execution->leaf);
        if (execution->error)
                output_finish(execution->error, execution->leaf);
        if (!end->error && !execution->lost) {
                g_autofree char *second =
                        params->stderr_key ? set_output(execution, params->stderr_key, execution->error, OUTPUT_TEXT)
                                           : NULL;

                problem = set_output(execution, params->stdout_key, execution->output, params->stdout_format);
                problem = problem ?: g_steal_pointer(&second);
        }

        if (!is_success(params, end)) {
                fail(execution, end);
        } else if (execution->lost) {
                leaf_set_cause_of(execution->leaf, CAUSE_LOST, NULL,
                                  "it succeeded, but btd was restarted meanwhile, and its %s was not kept",
                                  execution->lost);
                execution->ended(execution->leaf, STATUS_FAILURE);
        } else if (problem) {
                leaf_set_cause_of(execution->leaf, CAUSE_FAILED, facts_new("program", fact_text(params->argv[0]), NULL),
                                  "it succeeded, but %s", problem);
                execution->ended(execution->leaf, STATUS_FAILURE);
        } else {
                const LogSubject subject = leaf_log_subject(execution->leaf);
                g_autofree char *room = describe_lack_of_room(execution);

                if (room)
                        log_message(LOG_WARNING, &subject, "succeeded, but %s", room);
                execution->ended(execution->leaf, STATUS_SUCCESS);
        }
}

bool execution_has_run(const Execution *execution) {
        return execution->has_run;
}

/* A file with the text, which the process reads at its own speed. */
static int input_open(const char *text, int *ret_fd) {
        g_auto(AutoFd) fd = memfd_create("stdin", MFD_CLOEXEC);
        int r = fd < 0 ? -errno : write_all(fd, text, strlen(text));

        if (r >= 0 && lseek(fd, 0, SEEK_SET) < 0)
                r = -errno;
        if (r < 0)
                return r;

        *ret_fd = fd;
        fd = -1;
        return 0;
}

/* Conditions start again. */
static bool outlives_daemon(const Execution *execution, bool as_unit) {
        Leaf *leaf = execution->leaf;

        return as_unit && leaf->durable && leaf->type->class == NODE_ACTION;
}

/* If there can be no file, a pipe is used. */
static int open_output(Execution *execution, const char *what, bool outlives, Output **ret_output, int *ret_fd) {
        Leaf *leaf = execution->leaf;
        const LogSubject subject = leaf_log_subject(leaf);
        size_t limit = (size_t) execution->params->output_limit;
        g_autofree char *name = NULL, *file = NULL, *path = NULL;
        int r;

        if (!leaf->services->outputs || !(outlives || execution->recovering))
                return output_new_pipe(leaf, what, limit, ret_output, ret_fd);

        name = spawn_name_format(leaf, 0);
        file = g_strconcat(name, ".", what, NULL);
        path = g_build_filename(leaf->services->outputs, file, NULL);
        r = output_new_file(leaf, what, limit, path, !execution->recovering, ret_output, ret_fd);
        if (r >= 0)
                return r;

        if (execution->recovering)
                execution->lost = what;
        else
                log_message(LOG_WARNING, &subject,
                            "a restart of btd would lose its %s, because %s is not available: %s", what, path,
                            g_strerror(-r));
        return output_new_pipe(leaf, what, limit, ret_output, ret_fd);
}

static int open_fds(Execution *execution, bool as_unit, int fds[static 3]) {
        bool outlives = outlives_daemon(execution, as_unit);
        const SpawnParams *params = execution->params;
        /* Do its errors go to the journal only if btd passes them on, though nothing else needs them? */
        bool passes_errors = (!as_unit || execution->leaf->type->class == NODE_CONDITION) &&
                             !json_object_object_get(params->properties, "StandardError");
        int r = 0;

        if (params->input)
                r = input_open(params->input, &fds[STDIN_FILENO]);
        if (r >= 0 && params->stdout_key)
                r = open_output(execution, "stdout", outlives, &execution->output, &fds[STDOUT_FILENO]);
        if (r >= 0 && params->stderr_key)
                r = open_output(execution, "stderr", outlives, &execution->error, &fds[STDERR_FILENO]);
        else if (r >= 0 && passes_errors)
                r = output_new_pipe(execution->leaf, "stderr", 0, &execution->error, &fds[STDERR_FILENO]);

        if (execution->output)
                execution->output->kept = true;
        if (execution->error) {
                g_autofree char *name = spawn_name_format(execution->leaf, execution->repetition);

                execution->error->kept = params->stderr_key;
                execution->error->identifier = g_strconcat(SPAWN_UNIT_PREFIX, name, NULL);
        }

        return r;
}

/* The memo for the next daemon: whether to look for a unit or a child, and whether it must have been there. */
static void record_memo(const Execution *execution, bool as_unit) {
        json_object *memo = json_object_new_object();

        json_object_object_add(memo, as_unit ? "unit" : "child", json_object_new_boolean(true));
        if (execution->repetition > 0)
                json_object_object_add(memo, "repetition", json_object_new_int64(execution->repetition));
        if (execution->confirmed)
                json_object_object_add(memo, "confirmed", json_object_new_boolean(true));
        if (execution->confirmed && execution->child)
                spawn_child_note(execution->child, memo);
        leaf_set_memo(execution->leaf, memo);
}

static void on_confirmed(void *userdata) {
        Execution *execution = userdata;

        leaf_read(execution->leaf, 0);
        if (execution->confirmed)
                return;

        execution->confirmed = true;
        record_memo(execution, !execution->child);
}

static SpawnRequest request_of(const Execution *execution, const int fds[static 3]) {
        return (SpawnRequest){
                .leaf = execution->leaf,
                .params = execution->params,
                .repetition = execution->repetition,
                .recovering = execution->recovering,
                .confirmed = execution->confirmed,
                .kill_signal = spawn_params_signal(execution->params),
                .fds = { fds[0], fds[1], fds[2] },
        };
}

/* connection NULL: as a child. */
static int begin(Execution *execution, Connection *connection) {
        g_autofree char *error = NULL;
        int fds[3] = { -1, -1, -1 }, r;
        SpawnRequest request;

        r = open_fds(execution, connection, fds);
        if (r < 0) {
                error = g_strdup_printf("cannot create pipes to the process: %s", g_strerror(-r));
        } else {
                /* Its output shows that it was executed, even if its unit has left no trace. */
                execution->confirmed |= execution->recovering &&
                                        (output_was_used(execution->output) || output_was_used(execution->error));
                record_memo(execution, connection);
                request = request_of(execution, fds);
                if (connection) {
                        r = spawn_unit_new(&request, connection, on_confirmed, on_ended, execution, &execution->unit,
                                           &error);
                } else {
                        execution->child = spawn_child_new(&request, on_confirmed, on_ended, execution);
                        fds[0] = fds[1] = fds[2] = -1;
                }
        }

        for (size_t i = 0; i < G_N_ELEMENTS(fds); i++)
                if (fds[i] >= 0)
                        close(fds[i]);

        if (r < 0)
                set_cause(execution, &(SpawnEnd){ .error = error }, NULL);
        return r;
}

/* Only systemd can set properties; a process without them is not the requested one. */
static bool can_be_child(const SpawnParams *params) {
        return params->as == SPAWN_AS_CHILD || (params->as == SPAWN_AS_AUTO && !params->properties);
}

static void on_systemd_known(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
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
                                  error ? dbus_error_facts(error) : NULL, "cannot create a unit: %s",
                                  error ? error->message : "there is no systemd on this bus");
                execution->ended(execution->leaf, STATUS_FAILURE);
                return;
        }

        g_clear_pointer(&execution->query, call_free);
        if (begin(execution, connection) < 0)
                execution->ended(execution->leaf, STATUS_FAILURE);
}

/* The limits of execve(2): of one text, and of all together with a stack of the usual size. */
#define ARGUMENT_MAX (128u * 1024 - 1)
#define ARGUMENTS_MAX (2u * 1024 * 1024)

/* Describes what execve(2) would refuse with E2BIG; NULL: nothing. systemd would tell only a status. */
static char *describe_excess(const SpawnParams *params) {
        const char *const *const lists[] = { params->argv, params->env };
        size_t all = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
                for (size_t j = 0; lists[i] && lists[i][j]; j++) {
                        size_t length = strlen(lists[i][j]);

                        all += length + 1 + sizeof(char *);
                        if (length > ARGUMENT_MAX)
                                return g_strdup_printf("%s[%zu] has %zu bytes, but a program gets at most %u in one "
                                                       "text (E2BIG); pass the text with stdin, or in a file",
                                                       i == 0 ? "argv" : "env", j, length, ARGUMENT_MAX);
                }

        return all <= ARGUMENTS_MAX ? NULL
                                    : g_strdup_printf("argv and env have %zu bytes, but a program gets at most %u "
                                                      "(E2BIG); pass the text with stdin, or in a file",
                                                      all, ARGUMENTS_MAX);
}

int execution_new(Leaf *leaf, const SpawnParams *params, unsigned repetition, ExecutionEnded ended,
                  Execution **ret_execution) {
        g_autoptr(Execution) execution = NULL;
        g_autofree char *excess = describe_excess(params), *error = NULL;
        Connection *connection;
        int r;

        if (excess) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", excess);
                return -E2BIG;
        }

        /* An error of the file itself was found when it was loaded. */
        if (params->properties && params->as == SPAWN_AS_CHILD) {
                leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL,
                                  "properties: cannot be given together with \"as\": \"child\"; only a unit has "
                                  "properties");
                return -EINVAL;
        }

        execution = g_new(Execution, 1);
        *execution = (Execution){ .leaf = leaf, .params = params, .repetition = repetition, .ended = ended };

        if (can_be_child(params) && (params->as == SPAWN_AS_CHILD || sd_booted() <= 0)) {
                r = begin(execution, NULL);
        } else {
                r = buses_get(leaf->services->buses, NULL, NULL, &connection, &error);
                if (r < 0)
                        leaf_set_cause_of(leaf, CAUSE_PARAMETER, NULL, "%s", error);
                else if (systemd_is_expected(connection))
                        r = begin(execution, connection);
                else
                        execution->query = systemd_query_presence(connection, on_systemd_known, execution);
        }
        if (r < 0)
                return r;

        *ret_execution = g_steal_pointer(&execution);
        return 0;
}

int execution_recover(Leaf *leaf, const SpawnParams *params, ExecutionEnded ended, Execution **ret_execution) {
        g_autoptr(Execution) execution = g_new(Execution, 1);
        json_object *confirmed = NULL;
        Connection *connection;
        g_autofree char *error = NULL;
        int r;

        *execution = (Execution){
                .leaf = leaf,
                .params = params,
                .ended = ended,
                .recovering = true,
                .confirmed = json_object_object_get_ex(leaf->memo, "confirmed", &confirmed),
        };
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

int execution_end_left(Leaf *leaf, const SpawnParams *params, ExecutionEnded ended, Execution **ret_execution) {
        static const int no_fds[] = { -1, -1, -1 };
        g_autoptr(Execution) execution = g_new(Execution, 1);
        g_autofree char *error = NULL;
        Connection *connection;
        SpawnRequest request;
        int r;

        *execution = (Execution){
                .leaf = leaf,
                .params = params,
                .repetition = (unsigned) json_object_get_int64(json_object_object_get(leaf->memo, "repetition")),
                .ended = ended,
                .recovering = true,
                .stopping = true,
        };
        request = request_of(execution, no_fds);

        if (json_object_object_get(leaf->memo, "unit")) {
                r = buses_get(leaf->services->buses, NULL, NULL, &connection, &error);
                if (r >= 0)
                        r = spawn_unit_new(&request, connection, on_confirmed, on_ended, execution, &execution->unit,
                                           &error);
                if (r >= 0 && spawn_unit_stop(execution->unit))
                        r = -ESRCH;
        } else {
                r = spawn_child_find(&request, leaf->memo, on_ended, execution, &execution->child);
                if (r >= 0)
                        spawn_child_stop(execution->child);
        }
        if (r < 0)
                return r;

        *ret_execution = g_steal_pointer(&execution);
        return 0;
}

bool execution_stops_at_once(const Execution *execution) {
        return execution->tail || (execution->unit ? spawn_unit_stops_at_once(execution->unit) : !execution->child);
}

bool execution_stop(Execution *execution) {
        execution->stopping = true;
        if (execution->tail) {
                g_clear_pointer(&execution->tail, log_tail_free);
                return true;
        }
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

        call_free(execution->query);
        log_tail_free(execution->tail);
        g_free((char *) execution->end.result);
        g_free((char *) execution->end.unit);
        g_free((char *) execution->end.invocation_id);
        spawn_child_free(execution->child);
        if (execution->leaf->abandoned && outlives_daemon(execution, execution->unit)) {
                spawn_unit_abandon(execution->unit);
                output_abandon(execution->output);
                output_abandon(execution->error);
        } else {
                spawn_unit_free(execution->unit);
                output_free(execution->output);
                output_free(execution->error);
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
