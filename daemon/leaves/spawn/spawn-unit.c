/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs a process as a transient unit. The unit has Type=exec, so that systemd reports whether the program could be
 * executed, and RemainAfterExit=yes, so that the unit keeps its result until btd has read it, even if the bus is lost
 * meanwhile. Then the unit is stopped, or its failure is reset; this also ends the processes that it has left running.
 *
 * If the bus is lost before the reply to the request, or the daemon was restarted meanwhile, the unit is requested
 * again; if it exists then, it is the requested one. In all other cases, a unit of that name was left behind by a
 * daemon that was killed, and is stopped first.
 */

#include <signal.h>
#include <stdbool.h>
#include <sys/statvfs.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "leaf-types/spawn-handover.h"
#include "leaf-types/unit-name.h"
#include "leaves/spawn/exit-status.h"
#include "leaves/spawn/spawn-name.h"
#include "leaves/spawn/spawn-transient.h"
#include "leaves/spawn/spawn-unit.h"
#include "leaves/unit/systemd-job.h"
#include "leaves/unit/systemd.h"
#include "leaves/unit/unit-cause.h"
#include "leaves/unit/unit-watch.h"

typedef enum Phase {
        PHASE_WAITING, /* for the service manager */
        PHASE_STARTING,
        PHASE_CLEARING, /* stopping a unit that the previous daemon left */
        PHASE_RUNNING,
        PHASE_STOPPING,
} Phase;

struct SpawnUnit {
        const SpawnParams *params;
        Connection *connection;
        char *name;
        sd_bus_message *start;
        UnitWatch *watch;
        Phase phase;
        Job *job;
        char *result; /* of the job that started it */
        bool asked;   /* and the answer was lost */
        bool cleared;
        SpawnEnded ended;
        void *userdata;
};

static GHashTable *all_units; /* names of all units that are in use; NULL: none */

static void unit_ask_start(SpawnUnit *unit);
static void unit_ask_stop(SpawnUnit *unit, JobDone done);

static bool is(const char *fact, const char *value) {
        return g_strcmp0(fact, value) == 0;
}

static bool answer_was_lost(const sd_bus_error *error) {
        return sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED);
}

/* The bus or systemd was lost: the watch reports when both are back, unless they already are. */
static bool will_come_again(const sd_bus_error *error) {
        return answer_was_lost(error) || sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

static void unit_end(SpawnUnit *unit, const SpawnEnd *end) {
        unit->ended(end, unit->userdata);
}

static void unit_end_with(SpawnUnit *unit, const char *error) {
        unit_end(unit, &(SpawnEnd){ .error = error, .unit = unit->name });
}

/* The statuses are systemd's, for what it could not do before it executed the program; btd-exec has the same. */
static char *describe_failed_start(const SpawnUnit *unit, const UnitFacts *facts) {
        const SpawnParams *params = unit->params;
        const char *reason = spawn_handover_reason(params);

        if (reason && facts->exec_main_code == CLD_EXITED && facts->exec_main_status == 203 &&
            is(facts->status_text ?: "", ""))
                return g_strdup_printf("cannot execute %s (status 203/EXEC), which is to execute %s: %s, and systemd "
                                       "would change that when it is reloaded",
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
                return unit_cause(unit->name, UNIT_START, unit->result, facts);
        }
}

/* Results that explain more than the exit status. */
static const char *telling_result(const char *result) {
        static const char *const plain[] = { "success", "exit-code", "signal", "core-dump", NULL };

        return result && !g_strv_contains(plain, result) ? result : NULL;
}

/* The job also fails if a program that was executed ends before systemd notices the execution, or if systemd is
 * reloaded meanwhile; but btd-exec reports when it executes the program. */
static bool unit_failed_to_start(const SpawnUnit *unit, const UnitFacts *facts) {
        if (facts->exec_main_code != CLD_EXITED || !exit_status_of_exec(facts->exec_main_status))
                return false;
        if (spawn_handover_reason(unit->params))
                return !g_str_has_prefix(facts->status_text ?: "", SPAWN_HANDOVER_EXECUTES);

        return is(unit->result, "failed");
}

static void unit_check_end(SpawnUnit *unit) {
        const UnitFacts *facts = unit_watch_facts(unit->watch);
        SpawnEnd end = {
                .code = facts->exec_main_code,
                .status = facts->exec_main_status,
                .result = telling_result(facts->result),
                .unit = unit->name,
                .invocation_id = facts->invocation_id,
        };

        /* The previous daemon may have requested a unit that was not started yet. */
        if (!is(facts->active_state, "failed") && !(is(facts->active_state, "inactive") && facts->job == 0) &&
            !is(facts->sub_state, "exited"))
                return;

        if (end.code != 0 && !unit_failed_to_start(unit, facts)) {
                unit_end(unit, &end);
        } else if (end.code == 0 && is(unit->result, "done")) {
                unit_end_with(unit, "its unit was removed, so its exit status is not known");
        } else {
                g_autofree char *error = describe_failed_start(unit, facts);

                end.error = error;
                unit_end(unit, &end);
        }
}

static void unit_wait(SpawnUnit *unit) {
        unit->phase = PHASE_WAITING;
        if (unit_watch_is_ready(unit->watch))
                unit_ask_start(unit);
}

static void unit_run(SpawnUnit *unit, const char *result) {
        g_clear_pointer(&unit->job, job_free);
        unit->phase = PHASE_RUNNING;
        unit->result = g_strdup(result);
}

static void on_cleared(const char *result, const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;
        g_autoptr(sd_bus_message) message = NULL;

        if (error && will_come_again(error)) {
                unit->cleared = false;
                unit_wait(unit);
                return;
        }

        message = systemd_message(unit->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "ResetFailedUnit", "s",
                                  unit->name);

        systemd_send(unit->connection, message);
        unit_ask_start(unit);
}

static void unit_is_there(SpawnUnit *unit) {
        if (unit->asked) {
                unit_run(unit, "done");
                unit_watch_read(unit->watch);
                return;
        }

        log_warning("%s was left behind by a previous btd; stopping it", unit->name);
        unit->cleared = true;
        unit->phase = PHASE_CLEARING;
        unit_ask_stop(unit, on_cleared);
}

/* systemd writes the unit to a file. If there is no room, it only says that it has not found the unit. */
static char *describe_lack_of_room(void) {
        g_autofree char *directory =
                g_build_filename(g_getenv("XDG_RUNTIME_DIR") ?: "/run", "systemd", "transient", NULL);
        struct statvfs st;

        if (statvfs(directory, &st) < 0 || st.f_blocks == 0 || st.f_bavail > 0)
                return NULL;

        return g_strdup_printf("; the file system of %s is full", directory);
}

static void unit_start_failed(SpawnUnit *unit, const sd_bus_error *error) {
        g_autofree char *text = NULL, *why = NULL, *cause = NULL;

        if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.UnitExists") && !unit->cleared) {
                unit_is_there(unit);
                return;
        }

        if (will_come_again(error)) {
                unit->asked |= answer_was_lost(error);
                unit_wait(unit);
                return;
        }

        text = unit_cause_of_error(unit->name, UNIT_START, error);
        why = describe_lack_of_room();
        cause = g_strconcat(text, why, NULL);
        unit_end_with(unit, cause);
}

static void on_started(const char *result, const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;

        if (error) {
                unit_start_failed(unit, error);
                return;
        }

        unit_run(unit, result);
        if (is(result, "done"))
                unit_check_end(unit);
        else
                unit_watch_read(unit->watch);
}

static void unit_ask_start(SpawnUnit *unit) {
        unit->phase = PHASE_STARTING;
        job_free(unit->job);
        unit->job = job_new(unit->connection, unit->start, NULL, on_started, unit);
}

static void on_stopped(const char *result, const sd_bus_error *error, void *userdata) {
        SpawnUnit *unit = userdata;

        if (error && will_come_again(error)) {
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
        unit->job = job_new(unit->connection, message, NULL, done, unit);
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

        if (will_come_again(error) || unit->phase != PHASE_RUNNING)
                return;

        text = g_strdup_printf("cannot read the state of %s: %s", unit->name, error->message ?: error->name);
        unit_end_with(unit, text);
}

static char *unit_name(const SpawnRequest *request) {
        g_autofree char *name = spawn_name_format(request->leaf, request->repetition);

        return g_strconcat(SPAWN_UNIT_PREFIX, name, SPAWN_UNIT_SUFFIX, NULL);
}

int spawn_unit_new(const SpawnRequest *request, Connection *connection, SpawnEnded ended, void *userdata,
                   SpawnUnit **ret_unit, char **ret_error) {
        static const UnitWatchCallbacks callbacks = {
                .ready = on_ready,
                .changed = on_changed,
                .failed = on_failed,
        };
        g_autoptr(sd_bus_message) message = NULL;
        g_autofree char *name = unit_name(request), *path = NULL;
        SpawnUnit *unit;
        int r;

        r = spawn_transient_message(connection, request, name, &message, ret_error);
        if (r < 0)
                return r;

        path = unit_name_path(name);
        unit = g_new0(SpawnUnit, 1);
        unit->params = request->params;
        unit->asked = request->recovering;
        unit->connection = connection;
        unit->name = g_steal_pointer(&name);
        unit->start = g_steal_pointer(&message);
        unit->ended = ended;
        unit->userdata = userdata;
        unit->watch = unit_watch_new(connection, path, &callbacks, unit);

        if (!all_units)
                all_units = g_hash_table_new(g_str_hash, g_str_equal);
        g_hash_table_add(all_units, unit->name);
        *ret_unit = unit;
        return 0;
}

static void unit_clean_up(SpawnUnit *unit) {
        const char *state = unit_watch_facts(unit->watch)->active_state;
        g_autoptr(sd_bus_message) message = NULL;

        if (is(state, "inactive"))
                return;

        if (is(state, "failed"))
                message = systemd_message(unit->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "ResetFailedUnit",
                                          "s", unit->name);
        else
                message = systemd_message(unit->connection, SYSTEMD_MANAGER_PATH, SYSTEMD_MANAGER, "StopUnit", "ss",
                                          unit->name, "replace");
        systemd_send(unit->connection, message);
}

void spawn_unit_free(SpawnUnit *unit) {
        if (!unit)
                return;

        if (unit->phase != PHASE_WAITING || unit->asked)
                unit_clean_up(unit);
        spawn_unit_abandon(unit);
}

void spawn_unit_abandon(SpawnUnit *unit) {
        if (!unit)
                return;

        g_hash_table_remove(all_units, unit->name);
        if (g_hash_table_size(all_units) == 0)
                g_clear_pointer(&all_units, g_hash_table_unref);

        job_free(unit->job);
        unit_watch_free(unit->watch);
        sd_bus_message_unref(unit->start);
        g_free(unit->result);
        g_free(unit->name);
        g_free(unit);
}

bool spawn_unit_is_watched(const char *name) {
        return all_units && g_hash_table_contains(all_units, name);
}

bool spawn_unit_stop(SpawnUnit *unit) {
        if (unit->phase == PHASE_WAITING && !unit->asked)
                return true;

        unit->phase = PHASE_STOPPING;
        unit_ask_stop(unit, on_stopped);
        return false;
}

void spawn_unit_describe(const SpawnUnit *unit, GString *text) {
        g_string_append_printf(text, "unit %s%s", unit->name, unit->phase == PHASE_STOPPING ? " to end" : "");
}
