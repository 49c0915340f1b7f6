/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs a process as a transient unit. The unit has Type=exec, so that systemd reports whether the program could be
 * executed, and RemainAfterExit=yes, so that the unit keeps its result until btd has read it, even if the bus is lost
 * meanwhile. Then the unit is stopped, or its failure is reset; this also ends the processes that it has left running.
 *
 * If the bus is lost before the reply to the request, or the daemon was restarted before it had the reply, the unit is
 * requested again; if it exists then, it is the requested one. In all other cases, a unit of that name was left behind
 * by a daemon that was killed, and is stopped first. A unit that systemd has confirmed is never requested again: if it
 * is gone, somebody has stopped it, or has reset its failure.
 *
 * What a child would get, a unit gets, too, also after systemd was reloaded. Arguments that systemd would change go
 * through btd-exec, see leaf-types/spawn-handover.c. There is ExecStartEx with "no-env-expand" for the "$", but systemd
 * 252 cannot read that again when it is reloaded, and then refuses to start the unit.
 */

#include <glib/gstdio.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>
#include <syslog.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "basic/unit-escape.h"
#include "leaf-types/spawn.h"
#include "leaf-types/unit.h"
#include "leaves/spawn/spawn-process.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-cause.h"
#include "leaves/unit/unit-facts.h"
#include "leaves/unit/unit-frozen.h"
#include "leaves/unit/unit-search.h"

/* Opens the containers of a property whose value has this type. */
static int open_property(sd_bus_message *message, const char *name, const char *type) {
        int r = sd_bus_message_open_container(message, 'r', "sv");

        if (r >= 0)
                r = sd_bus_message_append(message, "s", name);
        return r < 0 ? r : sd_bus_message_open_container(message, 'v', type);
}

/* Closes so many containers, if nothing has failed. */
static int close_containers(sd_bus_message *message, int n, int r) {
        for (int i = 0; i < n && r >= 0; i++)
                r = sd_bus_message_close_container(message);
        return r;
}

static int append_string(sd_bus_message *message, const char *name, const char *value) {
        return value ? sd_bus_message_append(message, "(sv)", name, "s", value) : 0;
}

static int append_fds(sd_bus_message *message, const SpawnRequest *request) {
        static const char *const names[] = {
                "StandardInputFileDescriptor",
                "StandardOutputFileDescriptor",
                "StandardErrorFileDescriptor",
        };
        const int *fds = request->fds;
        json_object *given = NULL, *output = NULL;
        const char *other = "null";
        int r = 0;

        for (int i = 0; i < 3 && r >= 0; i++)
                if (fds[i] >= 0)
                        r = sd_bus_message_append(message, "(sv)", names[i], "h", fds[i]);

        json_object_object_get_ex(request->params->properties, "StandardError", &given);
        if (given && g_str_equal(json_object_get_string(given), other))
                other = "journal";

        /* Without this, systemd would send standard error to the descriptor of standard output. It does not do so if
         * the two settings differ. The setting of standard output has no other effect, because there is a descriptor
         * for it. If the properties have a StandardError, it comes later and counts. */
        if (r >= 0 && fds[STDOUT_FILENO] >= 0 && fds[STDERR_FILENO] < 0)
                r = sd_bus_message_append(message, "(sv)(sv)", "StandardOutput", "s", other, "StandardError", "s",
                                          "journal");

        /* Nor to the file of standard output: what a failed program says belongs to the cause. */
        json_object_object_get_ex(request->params->properties, "StandardOutput", &output);
        if (r >= 0 && output && fds[STDERR_FILENO] < 0)
                r = sd_bus_message_append(message, "(sv)", "StandardError", "s", "journal");

        return r;
}

/* Messages of the process in the journal get the same fields as messages of btd. When systemd is reloaded, it reads the
 * text after a blank as another field, even in quotes, because it has escaped the quotes. An escaped blank is read back
 * unchanged. */
static int append_log_fields(sd_bus_message *message, const Leaf *leaf) {
        const char *const fields[][2] = {
                { "BTD_TREE=", leaf->tree },
                { "BTD_RUN=", leaf->run },
                { "BTD_NODE=", leaf->name },
        };
        int r = open_property(message, "LogExtraFields", "aay");

        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "ay");
        for (size_t i = 0; i < G_N_ELEMENTS(fields) && r >= 0; i++) {
                g_auto(GStrv) words = g_strsplit(fields[i][1], " ", -1);
                g_autofree char *value = g_strjoinv("\\x20", words), *field = g_strconcat(fields[i][0], value, NULL);

                r = sd_bus_message_append_array(message, 'y', field, strlen(field));
        }
        return close_containers(message, 3, r);
}

/* Without this, systemd would log a failure for these exit statuses. */
static int append_success(sd_bus_message *message, json_object *success) {
        g_autofree int *statuses = NULL;
        size_t n;
        int r;

        if (!success)
                return 0;

        n = json_object_array_length(success);
        statuses = g_new(int, n);
        for (size_t i = 0; i < n; i++)
                statuses[i] = json_object_get_int(json_object_array_get_idx(success, i));

        r = open_property(message, "SuccessExitStatus", "(aiai)");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'r', "aiai");
        if (r >= 0)
                r = sd_bus_message_append_array(message, 'i', statuses, n * sizeof(int));
        if (r >= 0)
                r = sd_bus_message_append(message, "ai", 0);
        return close_containers(message, 3, r);
}

/* The properties that make a unit suitable for Spawn. */
static int append_nature(sd_bus_message *message, const SpawnRequest *request) {
        const SpawnParams *params = request->params;
        const Leaf *leaf = request->leaf;
        g_autofree char *description = g_strdup_printf("%s of %s", leaf->name, leaf->run);
        /* systemd takes 0 for infinity. */
        uint64_t kill_timeout = MAX(params->kill_timeout, 1);
        int r;

        r = append_string(message, "Description", description);
        if (r >= 0)
                r = append_string(message, "Type", "exec");
        if (r >= 0)
                r = sd_bus_message_append(message, "(sv)(sv)(sv)", "RemainAfterExit", "b", true, "KillSignal", "i",
                                          request->kill_signal, "TimeoutStopUSec", "t", kill_timeout);
        if (r >= 0)
                r = append_success(message, params->success_exit);

        /* btd ends its processes, in the order of their trees, and systemd must not do so beside it when the machine
         * goes down. And nothing of a new unit may conflict with the shutdown, or no clean-up could start a process:
         * for a user, neither may the slice that it would be in by default. */
        if (r >= 0)
                r = sd_bus_message_append(message, "(sv)(sv)", "DefaultDependencies", "b", false, "IgnoreOnIsolate",
                                          "b", true);
        if (r >= 0 && leaf->services->user)
                r = append_string(message, "Slice", "-.slice");

        /* systemd logs four lines for a process that succeeds, with the level info. What the process writes gets a
         * level that is kept. */
        if (r >= 0 && !json_object_object_get(params->properties, "LogLevelMax") &&
            !json_object_object_get(params->properties, "SyslogLevel"))
                r = sd_bus_message_append(message, "(sv)(sv)", "LogLevelMax", "i", LOG_NOTICE, "SyslogLevel", "i",
                                          LOG_NOTICE);

        return r < 0 ? r : append_log_fields(message, leaf);
}

/* btd-exec tells the service manager whether it could execute the program, see unit_failed_to_start(). */
static int append_execution(sd_bus_message *message, const SpawnParams *params) {
        static const char *const exec[] = { BTD_EXEC, NULL };
        bool handed = spawn_handover_reason(params);
        g_auto(GStrv) variables = handed ? spawn_handover_variables(params) : NULL;
        g_autofree char *identifier = handed ? spawn_handover_identifier(params) : NULL;
        const char *const *argv = handed ? exec : params->argv;
        int r = open_property(message, "ExecStart", "a(sasb)");

        /* A list of one command: its path, its arguments, and whether a failure of it is to be ignored. */
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'r', "sasb");
        if (r >= 0)
                r = sd_bus_message_append(message, "s", argv[0]);
        if (r >= 0)
                r = sd_bus_message_append_strv(message, (char **) argv);
        if (r >= 0)
                r = sd_bus_message_append(message, "b", false);
        r = close_containers(message, 4, r);

        if (r >= 0 && handed)
                r = append_string(message, "NotifyAccess", "main");
        if (r >= 0)
                r = append_string(message, "SyslogIdentifier", identifier);
        /* Each variable is a property of its own: a line with all of them could be too long for systemd's unit file. */
        for (size_t i = 0; variables && variables[i] && r >= 0; i++)
                r = sd_bus_message_append(message, "(sv)", "Environment", "as", 1, variables[i]);
        for (size_t i = 0; params->env && params->env[i] && r >= 0; i++)
                if (!handed || !spawn_handover_has_variable(params->env[i]))
                        r = sd_bus_message_append(message, "(sv)", "Environment", "as", 1, params->env[i]);
        if (r >= 0 && !(handed && spawn_handover_has_directory(params)))
                r = append_string(message, "WorkingDirectory", params->cwd);

        return r;
}

/* StartTransientUnit(name, mode, a(sv) properties, a(sa(sv)) other units). A negative errno with an error message. */
static int make_start_message(Connection *connection, const SpawnRequest *request, const char *unit,
                              sd_bus_message **ret_message, char **ret_error) {
        g_autoptr(sd_bus_message) message = systemd_message(connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER,
                                                            "StartTransientUnit", "ss", unit, "fail");
        const SpawnParams *params = request->params;
        int r;

        r = sd_bus_message_open_container(message, 'a', "(sv)");
        if (r >= 0)
                r = append_nature(message, request);
        if (r >= 0)
                r = append_execution(message, params);
        if (r >= 0)
                r = append_string(message, "User", params->user);
        if (r >= 0)
                r = append_string(message, "Group", params->group);
        if (r >= 0)
                r = append_fds(message, request);
        if (r >= 0 && params->properties) {
                r = spawn_properties_append(message, params->properties, ret_error);
                if (r < 0)
                        return r;
        }
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_append(message, "a(sa(sv))", 0);
        if (r < 0) {
                *ret_error = g_strdup_printf("cannot ask systemd for a unit: %s", g_strerror(-r));
                return r;
        }

        *ret_message = g_steal_pointer(&message);
        return 0;
}

/* The name under which a connection keeps the names of its units that are in use, a set. */
#define KEPT "spawn-units"

typedef enum Phase {
        PHASE_WAITING, /* for the service manager */
        PHASE_STARTING,
        PHASE_CLEARING, /* stopping a unit that the previous daemon left */
        PHASE_RUNNING,
        PHASE_STOPPING,
} Phase;

struct SpawnUnit {
        const LeafServices *services;
        const SpawnParams *params;
        Connection *connection;
        char *name;
        sd_bus_message *start;
        UnitWatch *watch;
        Phase phase;
        Job *job;
        char *result;       /* of the job that started it */
        UnitSearch *search; /* of another unit that is the reason */
        bool searched;
        FrozenWatch *frozen; /* while it is started */
        bool asked;          /* and the answer was lost */
        bool there;          /* systemd has confirmed it to the previous daemon */
        bool recovering;
        bool cleared;
        SpawnConfirmed confirmed;
        SpawnEnded ended;
        void *userdata;
};

static void unit_ask_start(SpawnUnit *unit);
static void unit_ask_stop(SpawnUnit *unit, JobDone done);

static void unit_end_with(SpawnUnit *unit, const char *error) {
        unit->ended(&(SpawnEnd){ .error = error, .unit = unit->name }, unit->userdata);
}

/* systemd has exit statuses for what it could not do before it executed the program; btd-exec uses the same ones. */
static char *describe_failed_start(const SpawnUnit *unit, const UnitFacts *facts) {
        const SpawnParams *params = unit->params;
        const char *reason = spawn_handover_reason(params);

        if (reason && facts->exec_main_code == CLD_EXITED && facts->exec_main_status == 203 &&
            unit_fact_is(facts->status_text ?: "", ""))
                return g_strdup_printf(
                        "cannot execute %s (status 203/EXEC), which is needed to execute %s, because %s, "
                        "which systemd changes when it is reloaded",
                        BTD_EXEC, params->argv[0], reason);

        switch (facts->exec_main_code == CLD_EXITED ? facts->exec_main_status : 0) {
        case 200:
                return g_strdup_printf("cannot change to directory %s (status 200/CHDIR)", params->cwd ?: "/");
        case 203:
                return g_strdup_printf("cannot execute %s (status 203/EXEC)", params->argv[0]);
        case 216:
                return g_strdup_printf("cannot become group %s (status 216/GROUP)", params->group ?: "of its user");
        case 217:
                return g_strdup_printf("cannot become user %s (status 217/USER)", params->user ?: "root");
        default:
                return unit_cause(unit->name, UNIT_START, unit->result, facts, false);
        }
}

/* The job also fails if a program that was executed ends before systemd notices the execution, or if systemd is
 * reloaded meanwhile; but btd-exec reports when it executes the program. */
static bool unit_failed_to_start(const SpawnUnit *unit, const UnitFacts *facts) {
        if (facts->exec_main_code != CLD_EXITED || !exit_status_of_exec(facts->exec_main_status))
                return false;
        if (spawn_handover_reason(unit->params))
                return !g_str_has_prefix(facts->status_text ?: "", SPAWN_HANDOVER_EXECUTES);

        return unit_fact_is(unit->result, "failed");
}

/* Adds the names in a property: a string, a list of strings, or either as the value of an explicit type. */
static void add_names(GPtrArray *names, const SpawnParams *params, const char *property) {
        json_object *value = NULL;

        (void) json_object_object_get_ex(params->properties, property, &value);
        if (json_object_is_type(value, json_type_object))
                value = json_object_object_get(value, "value");
        if (json_object_is_type(value, json_type_string))
                g_ptr_array_add(names, g_strdup(json_object_get_string(value)));
        for (size_t i = 0; json_object_is_type(value, json_type_array) && i < json_object_array_length(value); i++)
                g_ptr_array_add(names, g_strdup(json_object_get_string(json_object_array_get_idx(value, i))));
}

/* Adds the mount units that may have to be up for a path. */
static void add_mounts(GPtrArray *names, const char *path) {
        g_autofree char *rest = g_strdup(path);

        for (char *end; (end = strrchr(rest, '/')) && end[1]; *end = 0) {
                g_autofree char *name = unit_escape_path(rest);

                if (name)
                        g_ptr_array_add(names, g_strconcat(name, ".mount", NULL));
        }
}

static void unit_check_end(SpawnUnit *unit);

static void on_found(const char *name, const UnitFacts *facts, void *userdata) {
        SpawnUnit *unit = userdata;

        if (name)
                unit_facts_blame(unit_watch_facts(unit->watch), unit->result, name, facts);
        unit->searched = true;
        g_clear_pointer(&unit->search, unit_search_free);
        unit_check_end(unit);
}

/* Is another unit the reason that it was not started, and is that one searched? systemd has forgotten the unit with its
 * properties, but not what the properties named. */
static bool unit_searches(SpawnUnit *unit) {
        bool dependent = unit_fact_is(unit->result, "dependency");
        g_autoptr(GPtrArray) names = NULL;

        if (unit->search || unit->searched || (!dependent && !unit_fact_is(unit->result, "canceled")))
                return unit->search;

        names = g_ptr_array_new_with_free_func(g_free);
        if (dependent) {
                g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);

                add_names(names, unit->params, "Requires");
                add_names(names, unit->params, "Requisite");
                add_names(names, unit->params, "BindsTo");
                add_names(paths, unit->params, "RequiresMountsFor");
                for (unsigned i = 0; i < paths->len; i++)
                        add_mounts(names, g_ptr_array_index(paths, i));
                if (unit->params->cwd)
                        add_mounts(names, unit->params->cwd);
        } else {
                add_names(names, unit->params, "Conflicts");
        }
        if (names->len > 0)
                unit->search = unit_search_new_among(unit->connection, g_steal_pointer(&names),
                                                     dependent ? UNIT_REQUIRED : UNIT_CONFLICTING, on_found, unit);
        return unit->search;
}

static void unit_check_end(SpawnUnit *unit) {
        /* These results explain no more than the exit status. */
        static const char *const plain[] = { "success", "exit-code", "signal", "core-dump", NULL };
        const UnitFacts *facts = unit_watch_facts(unit->watch);
        SpawnEnd end = {
                .code = facts->exec_main_code,
                .status = facts->exec_main_status,
                .time = facts->exec_main_exited,
                .result = facts->result && !g_strv_contains(plain, facts->result) ? facts->result : NULL,
                .unit = unit->name,
                .invocation_id = facts->invocation_id,
        };

        /* The previous daemon may have requested a unit that was not started yet. */
        if (!unit_fact_is(facts->active_state, "failed") &&
            !(unit_fact_is(facts->active_state, "inactive") && facts->job == 0) &&
            !unit_fact_is(facts->sub_state, "exited")) {
                if (unit->recovering && facts->load_state)
                        unit->confirmed(unit->userdata);
                unit->recovering = false;
                return;
        }

        if (end.code != 0 && !unit_failed_to_start(unit, facts)) {
                unit->ended(&end, unit->userdata);
        } else if (unit->there && !unit_fact_is(facts->load_state, "loaded")) {
                unit->ended(&(SpawnEnd){ .gone = true, .unit = unit->name }, unit->userdata);
        } else if (end.code == 0 && unit_fact_is(unit->result, "done")) {
                unit_end_with(unit, "its unit was removed, so its exit status is not known");
        } else if (!unit_searches(unit)) {
                g_autofree char *error = describe_failed_start(unit, facts);

                end.error = error;
                unit->ended(&end, unit->userdata);
        }
}

static void unit_wait(SpawnUnit *unit) {
        unit->phase = PHASE_WAITING;
        if (unit_watch_is_ready(unit->watch))
                unit_ask_start(unit);
}

static void unit_run(SpawnUnit *unit, const char *result) {
        g_clear_pointer(&unit->job, job_free);
        g_clear_pointer(&unit->frozen, frozen_watch_free);
        unit->phase = PHASE_RUNNING;
        unit->result = g_strdup(result);
}

static void on_cleared(const char *result, const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;

        if (error && systemd_is_away(error)) {
                unit->cleared = false;
                unit_wait(unit);
                return;
        }

        systemd_tell(unit->connection, "ResetFailedUnit", "s", unit->name);
        unit_ask_start(unit);
}

static void on_started(const char *result, const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;
        g_autofree char *text = NULL, *directory = NULL, *cause = NULL;
        struct statvfs st;
        bool full;

        if (!error) {
                unit_run(unit, result);
                if (unit_fact_is(result, "done"))
                        unit_check_end(unit);
                else
                        unit_watch_read(unit->watch);
        } else if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.UnitExists") && !unit->cleared) {
                if (unit->asked) {
                        unit_run(unit, "done");
                        unit_watch_read(unit->watch);
                        return;
                }

                log_warning("%s was left behind by a previous btd; stopping it", unit->name);
                unit->cleared = true;
                unit->phase = PHASE_CLEARING;
                unit_ask_stop(unit, on_cleared);
        } else if (systemd_is_away(error)) {
                /* The watch reports when the bus and systemd are back, unless they already are. */
                unit->asked |= systemd_answer_was_lost(error);
                unit_wait(unit);
        } else {
                /* systemd writes the unit to a file. If there is no room, it only says that it has not found the unit.
                 */
                text = unit_cause_of_error(unit->name, UNIT_START, error, unit->services->goes_down);
                directory = g_build_filename(g_getenv("XDG_RUNTIME_DIR") ?: "/run", "systemd", "transient", NULL);
                full = statvfs(directory, &st) >= 0 && st.f_blocks > 0 && st.f_bavail == 0;
                cause = full ? g_strdup_printf("%s; the file system of %s is full", text, directory) : g_strdup(text);
                unit_end_with(unit, cause);
        }
}

static void on_stepped(JobStep step, void *userdata) {
        SpawnUnit *unit = userdata;

        if (step != JOB_CONFIRMED)
                return;

        if (!unit->frozen)
                unit->frozen = frozen_watch_new(unit->connection, unit->services->timers, unit->name);
        unit->confirmed(unit->userdata);
}

static void unit_ask_start(SpawnUnit *unit) {
        unit->phase = PHASE_STARTING;
        job_free(unit->job);
        unit->job = job_new(unit->connection, unit->start, NULL, on_stepped, on_started, unit);
}

static void on_stopped(const char *result, const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;

        if (error && systemd_is_away(error)) {
                if (unit_watch_is_ready(unit->watch))
                        unit_ask_stop(unit, on_stopped);
                return;
        }

        if (error && !sd_bus_error_has_name(error, "org.freedesktop.systemd1.NoSuchUnit"))
                log_warning("cannot stop %s: %s", unit->name, error->message ?: error->name);

        unit_end_with(unit, "it was stopped");
}

static void unit_ask_stop(SpawnUnit *unit, JobDone done) {
        g_autoptr(sd_bus_message) message = systemd_message(unit->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER,
                                                            "StopUnit", "ss", unit->name, "replace");

        job_free(unit->job);
        unit->job = job_new(unit->connection, message, NULL, NULL, done, unit);
}

static void on_ready(void *userdata) {
        SpawnUnit *unit = userdata;

        if (unit->phase == PHASE_WAITING)
                unit_ask_start(unit);
        else if (unit->phase == PHASE_RUNNING)
                unit_watch_read(unit->watch);
        else if (unit->phase == PHASE_STOPPING)
                unit_ask_stop(unit, on_stopped);
}

static void on_changed(void *userdata) {
        SpawnUnit *unit = userdata;

        if (unit->phase == PHASE_RUNNING)
                unit_check_end(unit);
}

static void on_failed(const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;
        g_autofree char *text = NULL;

        if (systemd_is_away(error) || unit->phase != PHASE_RUNNING)
                return;

        text = g_strdup_printf("cannot read the state of %s: %s", unit->name, error->message ?: error->name);
        unit_end_with(unit, text);
}

int spawn_unit_new(const SpawnRequest *request, Connection *connection, SpawnConfirmed confirmed, SpawnEnded ended,
                   void *userdata, SpawnUnit **ret_unit, char **ret_error) {
        static const UnitWatchCallbacks callbacks = {
                .ready = on_ready,
                .changed = on_changed,
                .failed = on_failed,
        };
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *process = spawn_name_format(request->leaf, request->repetition), *path = NULL,
                        *name = g_strconcat(SPAWN_UNIT_PREFIX, process, SPAWN_UNIT_SUFFIX, NULL);
        SpawnUnit *unit;
        int r;

        r = make_start_message(connection, request, name, &message, ret_error);
        if (r < 0)
                return r;

        path = unit_name_path(name);
        unit = g_new(SpawnUnit, 1);
        *unit = (SpawnUnit){
                .services = request->leaf->services,
                .params = request->params,
                .connection = connection,
                .name = g_steal_pointer(&name),
                .start = g_steal_pointer(&message),
                .asked = request->recovering,
                .recovering = request->recovering,
                .there = request->recovering && request->confirmed,
                .confirmed = confirmed,
                .ended = ended,
                .userdata = userdata,
        };
        if (unit->there)
                unit_run(unit, "done");
        unit->watch = unit_watch_new(connection, path, &callbacks, unit);

        g_hash_table_add(connection_table(connection, KEPT), unit->name);
        *ret_unit = unit;
        return 0;
}

/* Ends its processes, too. */
static void unit_remove(Connection *connection, const char *unit, bool failed) {
        if (failed)
                systemd_tell(connection, "ResetFailedUnit", "s", unit);
        else
                systemd_tell(connection, "StopUnit", "ss", unit, "replace");
}

void spawn_unit_free(SpawnUnit *unit) {
        const char *state;

        if (!unit)
                return;

        state = unit_watch_facts(unit->watch)->active_state;
        if ((unit->phase != PHASE_WAITING || unit->asked) && !unit_fact_is(state, "inactive"))
                unit_remove(unit->connection, unit->name, unit_fact_is(state, "failed"));
        spawn_unit_abandon(unit);
}

void spawn_unit_abandon(SpawnUnit *unit) {
        if (!unit)
                return;

        g_hash_table_remove(connection_table(unit->connection, KEPT), unit->name);
        job_free(unit->job);
        unit_search_free(unit->search);
        frozen_watch_free(unit->frozen);
        unit_watch_free(unit->watch);
        sd_bus_message_unref(unit->start);
        g_free(unit->result);
        g_free(unit->name);
        g_free(unit);
}

bool spawn_unit_stops_at_once(const SpawnUnit *unit) {
        return unit->phase == PHASE_WAITING && !unit->asked;
}

bool spawn_unit_stop(SpawnUnit *unit) {
        if (spawn_unit_stops_at_once(unit))
                return true;

        unit->phase = PHASE_STOPPING;
        unit_ask_stop(unit, on_stopped);
        return false;
}

void spawn_unit_describe(const SpawnUnit *unit, GString *text) {
        const char *frozen = frozen_watch_found(unit->frozen);

        g_string_append_printf(text, "unit %s%s", unit->name, unit->phase == PHASE_STOPPING ? " to end" : "");
        if (frozen)
                g_string_append_printf(text, "; %s is frozen, see 'systemctl %sthaw'", frozen,
                                       unit->services->user ? "--user " : "");
}

/* Numbers in the name of a process. */
#define NUMBERS_MAX 4u

char *spawn_name_format(const Leaf *leaf, unsigned repetition) {
        if (repetition == 0)
                return g_strdup_printf("%s-%u-%u", leaf->run, leaf->node, leaf->attempt);

        return g_strdup_printf("%s-%u-%u-%u", leaf->run, leaf->node, leaf->attempt, repetition);
}

/* The name of a tree can contain the same characters as the numbers after it, so the last dot is the one before the
 * number of the run. */
bool spawn_name_parse(const char *text, const char *prefix, const char *suffix, SpawnName *ret_name) {
        g_autofree char *name = NULL;
        g_auto(GStrv) parts = NULL;
        guint64 numbers[NUMBERS_MAX];
        const char *dot;
        unsigned n;

        if (!g_str_has_prefix(text, prefix) || !g_str_has_suffix(text, suffix) ||
            strlen(text) < strlen(prefix) + strlen(suffix))
                return false;

        name = g_strndup(text + strlen(prefix), strlen(text) - strlen(prefix) - strlen(suffix));
        dot = strrchr(name, '.');
        parts = g_strsplit(dot ? dot + 1 : "", "-", NUMBERS_MAX + 1);
        n = g_strv_length(parts);
        if (n < NUMBERS_MAX - 1 || n > NUMBERS_MAX)
                return false;
        for (unsigned i = 0; i < n; i++)
                if (!g_ascii_string_to_unsigned(parts[i], 10, 0, i == 0 ? UINT64_MAX : NODE_NONE - 1, &numbers[i],
                                                NULL))
                        return false;

        g_assert(dot); /* else there would be no numbers */
        *ret_name = (SpawnName){
                .run = g_strndup(name, (size_t) (strchr(dot, '-') - name)),
                .node = (NodeId) numbers[1],
                .attempt = (uint32_t) numbers[2],
                .repetition = n == NUMBERS_MAX ? (unsigned) numbers[3] : 0,
        };
        return true;
}

void spawn_name_clear(SpawnName *name) {
        g_free(name->run);
        *name = (SpawnName){};
}

/*
 * Finds and removes the units that remain of ended processes, and the processes of Command that nobody waits for. The
 * unit of an ended process stays active, or failed, until it is stopped
 * or reset. That request is lost if systemd re-executes at that moment, or the bus is lost: so this is done each time
 * that systemd is back.
 */
struct SpawnSweep {
        Connection *connection;
        Follower systemd;
        SpawnAwaited awaited;
        void *userdata;
        Call *call;
};

/* A leaf that repeats its program waits only for the last process, which is watched; no other may run. */
static bool is_left(const SpawnSweep *sweep, const char *text, const char *prefix, const char *suffix, bool runs) {
        g_auto(SpawnName) name = {};

        return spawn_name_parse(text, prefix, suffix, &name) &&
               !g_hash_table_contains(connection_table(sweep->connection, KEPT), text) &&
               (name.repetition > 0 || (!runs && !sweep->awaited(&name, sweep->userdata)));
}

static void on_listed(sd_bus_message *reply, const sd_bus_error *error, void *userdata) {
        const SpawnSweep *sweep = userdata;
        const char *unit, *active, *sub;

        if (!reply || sd_bus_message_enter_container(reply, SD_BUS_TYPE_ARRAY, "(ssssssouso)") < 0)
                return;

        while (sd_bus_message_read(reply, "(ssssssouso)", &unit, NULL, NULL, &active, &sub, NULL, NULL, NULL, NULL,
                                   NULL) > 0) {
                bool failed = unit_fact_is(active, "failed");

                if (is_left(sweep, unit, SPAWN_UNIT_PREFIX, SPAWN_UNIT_SUFFIX, !failed && !unit_fact_is(sub, "exited")))
                        unit_remove(sweep->connection, unit, failed);
        }
}

static void sweep_units(void *userdata) {
        SpawnSweep *sweep = userdata;

        call_free(sweep->call);
        sweep->call = systemd_ask(sweep->connection, on_listed, sweep, "ListUnitsByPatterns", "asas", 0, 1,
                                  SPAWN_UNIT_PREFIX "*" SPAWN_UNIT_SUFFIX);
}

SpawnSweep *spawn_sweep_new(Connection *connection, const char *outputs, SpawnAwaited awaited, void *userdata) {
        g_autoptr(GDir) directory = outputs ? g_dir_open(outputs, 0, NULL) : NULL;
        SpawnSweep *sweep = g_new(SpawnSweep, 1);
        const char *file;

        *sweep = (SpawnSweep){
                .connection = connection,
                .systemd = { .changed = sweep_units, .userdata = sweep },
                .awaited = awaited,
                .userdata = userdata,
        };
        while (directory && (file = g_dir_read_name(directory)))
                if (is_left(sweep, file, "", ".stdout", false) || is_left(sweep, file, "", ".stderr", false)) {
                        g_autofree char *path = g_build_filename(outputs, file, NULL);

                        g_unlink(path);
                }
        systemd_follow(connection, &sweep->systemd);
        sweep_units(sweep);
        return sweep;
}

void spawn_sweep_free(SpawnSweep *sweep) {
        if (!sweep)
                return;

        systemd_unfollow(sweep->connection, &sweep->systemd);
        call_free(sweep->call);
        g_free(sweep);
}
