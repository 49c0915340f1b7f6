/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Describes failed jobs and ended processes. The terms of systemd are in brackets, so that users can look them up:
 * results of units in systemd.exec(5) under $SERVICE_RESULT, results of jobs in org.freedesktop.systemd1(5) under
 * JobRemoved(). The exit statuses above 200 are systemd's, see systemd.exec(5), "Process Exit Codes".
 */

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "basic/cause.h"
#include "leaf-types/unit-names.h"
#include "leaves/unit/unit-cause.h"

const struct UnitVerbNames unit_verbs[] = {
        [UNIT_START] = { "start", "started", "StartUnit" },
        [UNIT_STOP] = { "stop", "stopped", "StopUnit" },
        [UNIT_RESTART] = { "restart", "restarted", "RestartUnit" },
        [UNIT_RELOAD] = { "reload", "reloaded", "ReloadUnit" },
};

static char *signal_describe(int number) {
        const char *name = sigabbrev_np(number);

        return name ? g_strdup_printf("SIG%s", name) : g_strdup_printf("signal %i", number);
}

char *exit_status_describe(int code, int status) {
        g_autofree char *name = NULL;

        if (code == CLD_EXITED)
                return g_strdup_printf("exited with status %i", status);

        name = signal_describe(status);
        return g_strdup_printf("was killed by %s%s", name, code == CLD_DUMPED ? " and dumped core" : "");
}

void exit_status_add_facts(int code, int status, json_object *facts) {
        g_autofree char *name = NULL;

        if (code == CLD_EXITED) {
                json_object_object_add(facts, "status", json_object_new_int(status));
        } else if (code != 0) {
                name = signal_describe(status);
                json_object_object_add(facts, "signal", json_object_new_string(name));
                json_object_object_add(facts, "core_dumped", json_object_new_boolean(code == CLD_DUMPED));
        }
}

const char *exit_status_of_exec(int status) {
        static const char *const texts[] = {
                [200] = "its working directory could not be entered (status 200/CHDIR)",
                [202] = "its file descriptors could not be set up (status 202/FDS)",
                [203] = "its program could not be executed (status 203/EXEC)",
                [208] = "its standard input could not be set up (status 208/STDIN)",
                [209] = "its standard output could not be set up (status 209/STDOUT)",
                [214] = "its scheduling policy could not be set (status 214/SETSCHEDULER)",
                [216] = "its group does not exist or may not be used (status 216/GROUP)",
                [217] = "its user does not exist or may not be used (status 217/USER)",
                [218] = "its capabilities could not be set (status 218/CAPABILITIES)",
                [219] = "its control group could not be set up (status 219/CGROUP)",
                [226] = "its mount namespace could not be set up (status 226/NAMESPACE)",
                [228] = "its system call filter could not be set up (status 228/SECCOMP)",
                [233] = "its directories could not be created",
                [238 ... 241] = "its directories could not be created",
        };

        return status >= 0 && (size_t) status < G_N_ELEMENTS(texts) ? texts[status] : NULL;
}

static bool led_to(const UnitCommand *command, const char *result) {
        bool exited = command->code == CLD_EXITED;

        if (strcmp(result, "exit-code") == 0)
                return exited && command->status != 0;
        if (strcmp(result, "signal") == 0)
                return command->code == CLD_KILLED;
        if (strcmp(result, "core-dump") == 0)
                return command->code == CLD_DUMPED;
        if (strcmp(result, "exec-condition") == 0)
                return exited && command->status != 0 && command->setting &&
                       strcmp(command->setting, "ExecCondition") == 0;

        return strcmp(result, "timeout") == 0 && !exited && command->code != 0;
}

/* Finds the command that has led to the result of the unit or, for reload, of its last reload: of the first result that
 * counts, because when one command of a service fails, systemd stops the others. After a failed ExecStartPost= the main
 * process is killed, too. The main process stands for the command of ExecStart=, unless the service has several, or
 * forks. The program in the command is borrowed. */
static bool command_behind(const UnitFacts *facts, bool reload, UnitCommand *ret_command) {
        const UnitCommands *commands = &facts->commands;
        const char *result = reload ? facts->reload_result : facts->result;
        const UnitCommand main = {
                .code = facts->exec_main_code,
                .status = facts->exec_main_status,
                .started = facts->exec_main_started,
                .ended = facts->exec_main_exited,
        };
        bool forks = g_strcmp0(facts->type, "forking") == 0, by_name = forks || commands->n_start > 1;
        const UnitCommand *best = NULL;

        if (result && !reload && (forks || !by_name) && led_to(&main, result))
                best = &main;
        for (unsigned i = 0; result && commands->ended && i < commands->ended->len; i++) {
                const UnitCommand *command = &g_array_index(commands->ended, UnitCommand, i);
                bool wanted = reload ? strcmp(command->setting, "ExecReload") == 0
                                     : !g_str_has_prefix(command->setting, "ExecReload") &&
                                               (by_name || strcmp(command->setting, "ExecStart") != 0);

                if (!wanted || !led_to(command, result))
                        continue;
                /* systemd kills a command that takes too long together with the main process, which was started before
                 * it. */
                if (!best ||
                    (strcmp(result, "timeout") == 0 ? command->started > best->started : command->ended < best->ended))
                        best = command;
        }

        if (best)
                *ret_command = *best;
        return best;
}

/* How a cause names a command. words: for a command without a setting; else it is named "NAME= command". */
static const struct {
        const char *property, *words, *limit;
} settings[] = {
        { "ExecCondition", NULL, "TimeoutStartSec=" },
        { "ExecStartPre", NULL, "TimeoutStartSec=" },
        { "ExecStart", NULL, "TimeoutStartSec=" },
        { "ExecStartPost", NULL, "TimeoutStartSec=" },
        { "ExecReload", NULL, "TimeoutStartSec=" },
        { "ExecReloadPost", NULL, "TimeoutStartSec=" },
        { "ExecStop", NULL, "TimeoutStopSec=" },
        { "ExecStopPre", NULL, "TimeoutSec=" }, /* of sockets */
        { "ExecStopPost", NULL, "TimeoutStopSec=" },
        { "ExecMount", "mount command", "TimeoutSec=" },
        { "ExecRemount", "remount command", "TimeoutSec=" },
        { "ExecUnmount", "unmount command", "TimeoutSec=" },
        { "ExecActivate", "swapon command", "TimeoutSec=" },
        { "ExecDeactivate", "swapoff command", "TimeoutSec=" },
};

/* "its main process", "its ExecStartPost= command /bin/false". To be freed. */
static char *command_describe(const UnitCommand *command) {
        if (!command->setting)
                return g_strdup("its main process");

        for (size_t i = 0; i < G_N_ELEMENTS(settings); i++)
                if (settings[i].words && strcmp(settings[i].property, command->setting) == 0)
                        return g_strdup_printf("its %s %s", settings[i].words, command->program);

        return g_strdup_printf("its %s= command %s", command->setting, command->program);
}

static char *command_end_describe(const UnitCommand *command) {
        const char *exec = command->code == CLD_EXITED ? exit_status_of_exec(command->status) : NULL;
        g_autofree char *who = command_describe(command), *end = NULL;

        if (exec)
                return command->setting ? g_strdup_printf("%s failed: %s", who, exec) : g_strdup(exec);

        end = exit_status_describe(command->code, command->status);
        return g_strdup_printf("%s %s", who, end);
}

/* Only what starts the unit is limited by TimeoutStartSec=, and only until the unit is up. command: NULL if it is not
 * known. */
static char *timeout_describe(const UnitFacts *facts, const UnitCommand *command, bool stopped) {
        bool started = facts->became_active > 0 && facts->became_active >= facts->left_inactive;
        const char *limit = NULL;
        g_autofree char *who = command ? command_describe(command) : g_strdup("it");

        for (size_t i = 0; command && i < G_N_ELEMENTS(settings); i++)
                if (g_strcmp0(settings[i].property, command->setting) == 0)
                        limit = settings[i].limit;
        if (command && !command->setting && !started && facts->left_inactive > 0)
                limit = "TimeoutStartSec=";
        else if (command && stopped)
                limit = "TimeoutStopSec=";
        return limit ? g_strdup_printf("%s took longer than %s allows", who, limit)
                     : g_strdup_printf("%s took longer than its time limits allow", who);
}

/* Why a unit has failed, as a clause about it; NULL: it has not. stopped: after it was to be stopped. */
static char *result_describe(const UnitFacts *facts, bool stopped) {
        UnitCommand found, *command = command_behind(facts, false, &found) ? &found : NULL;
        const char *result = facts->result, *text = unit_result_text(result);

        if (!result || strcmp(result, "success") == 0)
                return NULL;
        if (strcmp(result, "timeout") == 0)
                return timeout_describe(facts, command, stopped);
        if (strcmp(result, "protocol") == 0 && facts->type)
                return g_strdup_printf("it did not report its start as its Type=%s requires", facts->type);
        if (command && strcmp(result, "exec-condition") == 0) {
                g_autofree char *end = exit_status_describe(command->code, command->status);

                return g_strdup_printf("its ExecCondition= was not met: %s %s", command->program, end);
        }
        if (command)
                return command_end_describe(command);

        return g_strdup(text);
}

/* The same with the name of the result, if the clause does not say more. NULL: the unit has not failed. */
static char *unit_result_describe(const UnitFacts *facts, bool stopped) {
        g_autofree char *text = result_describe(facts, stopped);
        UnitCommand command;

        if (!facts->result || strcmp(facts->result, "success") == 0)
                return NULL;
        if (text && strcmp(facts->result, "exit-code") == 0 && command_behind(facts, false, &command))
                return g_steal_pointer(&text);

        return text ? g_strdup_printf("%s (result '%s')", text, facts->result)
                    : g_strdup_printf("result '%s'", facts->result);
}

/* Why a required unit kept another one from being started, as a clause about it: "failed: its main process exited with
 * status 3". To be freed. */
static char *required_describe(const UnitFacts *facts) {
        g_autofree char *result = result_describe(facts, false), *state = unit_facts_describe(facts);

        if (facts->id && g_str_has_suffix(facts->id, ".device"))
                return g_strdup("is not there");
        if (g_strcmp0(facts->active_state, "activating") == 0 && !result)
                return g_strdup_printf("is %s, but its job was cancelled or took too long", state);
        if (g_strcmp0(facts->active_state, "inactive") != 0)
                return result ? g_strdup_printf("failed: %s", result) : g_strdup("failed");
        if (facts->tested_asserts > 0 && !facts->assert_result)
                return g_strdup_printf("was not started: %s%s was not met",
                                       facts->unmet_assert ? "its " : "one of its assertions",
                                       facts->unmet_assert ?: "");

        return g_strdup_printf("is %s", state);
}

void unit_facts_blame(UnitFacts *facts, const char *result, const char *unit, const UnitFacts *found) {
        if (strcmp(result, "dependency") != 0) {
                unit_facts_set(&facts->conflicting, unit);
                return;
        }

        unit_facts_set(&facts->failed_required, unit);
        g_free(facts->required_reason);
        facts->required_reason = required_describe(found);
}

/* "; b.service, which conflicts with it, was started", if there is one. */
static char *conflict_describe(const UnitFacts *facts, const char *before) {
        return facts->conflicting
                       ? g_strdup_printf("%s%s, which conflicts with it, was started", before, facts->conflicting)
                       : NULL;
}

static char *list_names(char **names) {
        return names && *names ? g_strjoinv(" and ", names) : NULL;
}

/* Names the units that systemd starts because the unit has ended, after the separator: "; its OnFailure= setting starts
 * spare.service". Empty if there are none. To be freed. */
static char *successors_describe(const UnitFacts *facts, bool succeeded, bool failed, const char *separator) {
        g_autofree char *success = succeeded ? list_names(facts->on_success) : NULL,
                        *failure = failed ? list_names(facts->on_failure) : NULL;

        return g_strconcat(success || failure ? separator : "", success ? "its OnSuccess= setting starts " : "",
                           success ?: "", success && failure ? ", " : "",
                           failure ? "its OnFailure= setting starts " : "", failure ?: "", NULL);
}

/* Does systemd start the unit again, or another one because it has failed? Then whatever replaces the unit would run
 * beside that. */
static char *restarts_describe(const UnitFacts *facts) {
        g_autofree char *successors = NULL;

        if (unit_facts_are_restarting(facts))
                return g_strdup("; its Restart= setting starts it again");

        successors = successors_describe(facts, false, unit_fact_is(facts->active_state, "failed"), "; ");
        return facts->n_restarts > 0 ? g_strdup_printf("; systemd has restarted it %" PRIu32 " time%s%s",
                                                       facts->n_restarts, facts->n_restarts == 1 ? "" : "s", successors)
                                     : g_steal_pointer(&successors);
}

/* "cam.socket and a call to org.example.Cam can start it again"; NULL: nothing can. */
static char *starters_describe(const UnitFacts *facts) {
        g_autofree char *units = list_names(facts->starters);

        if (!units && !facts->activatable)
                return NULL;

        return g_strconcat(units ?: "", units && facts->activatable ? " and " : "",
                           facts->activatable ? "a call to " : "", facts->activatable ? facts->bus_name : "",
                           " can start it again", NULL);
}

/* ": no such file": what the unit has said before it failed or ended. */
static char *words_describe(const UnitFacts *facts) {
        return facts->words ? g_strconcat(": ", facts->words, NULL) : g_strdup("");
}

/* ": its main process exited with status 0": why a unit that has not failed is down. NULL: it is not known. */
static char *end_describe(const UnitFacts *facts) {
        bool ended = facts->exec_main_code != 0 && facts->exec_main_exited >= facts->left_inactive;
        g_autofree char *end = NULL, *needed = list_names(facts->binds_to);

        if (facts->stop_when_unneeded)
                return g_strdup(": its StopWhenUnneeded= setting stops it");
        if (needed && !(ended && facts->exec_main_code == CLD_EXITED))
                return g_strdup_printf(": its BindsTo= setting stops it without %s", needed);
        if (!ended)
                return NULL;

        end = exit_status_describe(facts->exec_main_code, facts->exec_main_status);
        return g_strdup_printf(": its main process %s", end);
}

/* The job is done, but the unit is not in the requested state. */
static char *cause_behind_done(const char *unit, UnitVerb verb, const UnitFacts *facts) {
        g_autofree char *result = unit_result_describe(facts, verb == UNIT_STOP), *state = unit_facts_describe(facts),
                        *restarts = restarts_describe(facts), *starters = starters_describe(facts),
                        *words = words_describe(facts), *reason = NULL;
        bool starts = verb == UNIT_START || verb == UNIT_RESTART;

        if (verb == UNIT_STOP) {
                reason = starters ? g_strconcat(": ", starters, NULL) : successors_describe(facts, true, true, ": ");
                return g_strdup_printf("%s was stopped, but now it is %s%s", unit, state, reason);
        }
        if (starts && facts->unmet_condition)
                return g_strdup_printf("%s was not %s: its %s was not met", unit, unit_verbs[verb].past,
                                       facts->unmet_condition);
        if (starts && g_strcmp0(facts->result, "exec-condition") == 0)
                return g_strdup_printf("%s was not %s: %s", unit, unit_verbs[verb].past, result);
        if (starts && !facts->condition_result)
                return g_strdup_printf("%s was not %s: one of its conditions was not met", unit, unit_verbs[verb].past);
        if (unit_facts_are_up(facts) && facts->frozen)
                return unit_fact_is(facts->frozen, unit)
                               ? g_strdup_printf("%s is up, but frozen; thaw it first, see 'systemctl thaw'", unit)
                               : g_strdup_printf("%s is up, but %s is frozen; thaw that first, see 'systemctl thaw'",
                                                 unit, facts->frozen);
        if (facts->ended_since)
                return g_strdup_printf("%s was %s, but it has ended since%s", unit, unit_verbs[verb].past, restarts);
        if (result)
                return g_strdup_printf("%s failed: %s%s%s", unit, result, words, restarts);

        reason = conflict_describe(facts, ": ") ?: end_describe(facts);
        return g_strdup_printf("%s was %s, but now it is %s%s%s%s", unit, unit_verbs[verb].past, state, reason ?: "",
                               words, restarts);
}

static char *cause_of_failed(const char *unit, UnitVerb verb, const UnitFacts *facts) {
        g_autofree char *result = unit_result_describe(facts, verb == UNIT_STOP), *restarts = restarts_describe(facts),
                        *words = words_describe(facts);

        if (verb == UNIT_RELOAD) {
                UnitCommand command;
                g_autofree char *end = command_behind(facts, true, &command) ? command_end_describe(&command) : NULL;

                /* systemd does not wait until a command that took too long has ended. */
                if (g_strcmp0(facts->reload_result, "timeout") == 0)
                        return g_strdup_printf(
                                "%s was not reloaded: its reload took longer than TimeoutStartSec= allows "
                                "(result 'failed')",
                                unit);
                return g_strdup_printf("%s was not reloaded: %s (result 'failed')", unit,
                                       end ?: "its reload command failed");
        }
        if (result && verb == UNIT_STOP)
                return g_strdup_printf("%s was not stopped: %s", unit, result);
        if (result)
                return g_strdup_printf("%s failed: %s%s%s", unit, result, words, restarts);

        return g_strdup_printf("%s was not %s: %s (result 'failed')%s", unit, unit_verbs[verb].past,
                               unit_fact_is(facts->load_state, "masked")      ? "it is masked"
                               : unit_fact_is(facts->load_state, "not-found") ? "its unit file is gone"
                               : g_str_has_suffix(unit, ".socket")
                                       ? "it failed, perhaps because its service is running, see its journal"
                                       : "it failed, its journal may say why",
                               restarts);
}

/* systemd does not report which of the two limits has ended a job. JobRunningTimeoutSec= begins later, so it counts
 * only if it is the shorter one; then the time that the job has lasted decides. To be freed. */
static char *job_limit_describe(const UnitFacts *facts) {
        uint64_t whole = facts->job_timeout ?: UINT64_MAX, running = facts->job_running_timeout ?: UINT64_MAX;
        bool known = running >= whole || whole == UINT64_MAX || facts->job_lasted > 0;
        const char *limit = !known                                         ? "JobTimeoutSec= or JobRunningTimeoutSec="
                            : running < whole && facts->job_lasted < whole ? "JobRunningTimeoutSec="
                                                                           : "JobTimeoutSec=";

        return g_strdup_printf("the job took longer than its %s allows", limit);
}

/* Why a job that has neither failed nor been done has ended, as a clause. To be freed. */
static char *job_result_describe(const char *unit, UnitVerb verb, const char *result, const UnitFacts *facts) {
        bool does_not_apply = strcmp(result, "invalid") == 0 || strcmp(result, "skipped") == 0;

        if (strcmp(result, "assert") == 0 && facts->unmet_assert)
                return g_strdup_printf("its %s was not met", facts->unmet_assert);
        if (strcmp(result, "dependency") == 0 && facts->failed_required)
                return g_strdup_printf("%s, which it requires, %s", facts->failed_required,
                                       facts->required_reason ?: "failed");
        if (strcmp(result, "canceled") == 0 && facts->conflicting)
                return conflict_describe(facts, "");
        if (verb == UNIT_RELOAD && does_not_apply && facts->active_state)
                return g_strdup_printf("it is %s, and only a unit that is up can be reloaded", facts->active_state);
        if (strcmp(result, "timeout") == 0 && g_str_has_suffix(unit, ".device"))
                return g_strdup("the device did not appear in time");
        if (strcmp(result, "timeout") == 0)
                return job_limit_describe(facts);

        return g_strdup(job_result_text(result) ?: "its job ended");
}

char *unit_cause(const char *unit, UnitVerb verb, const char *result, const UnitFacts *facts, bool user) {
        g_autofree char *text = NULL, *known = NULL;
        const char *option = user ? "--user " : "";
        bool advised = false;

        if (strcmp(result, "done") == 0 || strcmp(result, "failed") == 0) {
                text = strcmp(result, "done") == 0 ? cause_behind_done(unit, verb, facts)
                                                   : cause_of_failed(unit, verb, facts);
                advised = g_strcmp0(facts->result, UNIT_RESULT_START_LIMIT) == 0;
        } else {
                known = job_result_describe(unit, verb, result, facts);
                text = g_strdup_printf("%s was not %s: %s (result '%s')", unit, unit_verbs[verb].past, known, result);
        }

        if (facts->frozen && !(strcmp(result, "done") == 0 && unit_facts_are_up(facts))) {
                g_autofree char *before = g_steal_pointer(&text);

                text = g_strdup_printf("%s; %s is frozen, see 'systemctl %sthaw'", before, facts->frozen, option);
        }

        /* The text ends with a command that helps: the start limit refuses the unit, or its files have changed. */
        if (advised)
                return g_strdup_printf("%s; to start it at once, call 'systemctl %sreset-failed %s' first", text,
                                       option, unit);
        if (facts->needs_daemon_reload && verb != UNIT_STOP)
                return g_strdup_printf("%s; its files have changed since systemd has read them, see 'systemctl "
                                       "%sdaemon-reload'",
                                       text, option);

        return g_steal_pointer(&text);
}

char *unit_note_of_stop(const char *unit, const UnitFacts *facts, uint64_t since) {
        bool has_failed = unit_fact_is(facts->active_state, "failed") && facts->became_inactive > since;
        g_autofree char *failure = has_failed ? unit_result_describe(facts, true) : NULL,
                        *starters = starters_describe(facts), *all = NULL;
        g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);

        if (failure)
                g_ptr_array_add(notes, g_strconcat("it has failed: ", failure, NULL));
        if (failure && facts->frozen)
                g_ptr_array_add(notes, g_strconcat(facts->frozen, " is frozen, see 'systemctl thaw'", NULL));
        if (facts->control_group && *facts->control_group)
                g_ptr_array_add(notes, g_strdup("processes of it still run, see KillMode= in systemd.kill(5)"));
        if (starters)
                g_ptr_array_add(notes, g_steal_pointer(&starters));
        if (notes->len == 0)
                return NULL;

        g_ptr_array_add(notes, NULL);
        all = g_strjoinv("; ", (char **) notes->pdata);
        return g_strdup_printf("%s is stopped, but %s", unit, all);
}

char *unit_note_of_old_files(const char *unit, bool user) {
        return g_strdup_printf("%s was restarted, but its files have changed since systemd has read them, see "
                               "'systemctl %sdaemon-reload'",
                               unit, user ? "--user " : "");
}

char *unit_note_of_restarts(const char *unit, const UnitFacts *facts) {
        return g_strdup_printf("%s was started; systemd has restarted it %" PRIu32 " time%s", unit, facts->n_restarts,
                               facts->n_restarts == 1 ? "" : "s");
}

json_object *unit_cause_facts(const char *unit, UnitVerb verb, const char *bus, const char *result,
                              const UnitFacts *facts) {
        UnitCommand command;
        json_object *json = facts_new(
                "unit", fact_text(unit), "bus", fact_text(bus), "job_result", fact_text(result), "result",
                fact_text(facts->result), "load_state", fact_text(facts->load_state), "active_state",
                fact_text(facts->active_state), "sub_state", fact_text(facts->sub_state), "unmet_condition",
                fact_text(facts->unmet_condition), "unmet_assert", fact_text(facts->unmet_assert), "failed_required",
                fact_text(facts->failed_required), "required_reason", fact_text(facts->required_reason), "conflicting",
                fact_text(facts->conflicting), "invocation_id", fact_text(facts->invocation_id), NULL);

        if (command_behind(facts, verb == UNIT_RELOAD && strcmp(result, "failed") == 0, &command)) {
                json_object_object_add(json, "command", fact_text(command.setting ?: "ExecStart"));
                if (command.program)
                        json_object_object_add(json, "program", fact_text(command.program));
                exit_status_add_facts(command.code, command.status, json);
        }
        if (facts->n_restarts > 0)
                json_object_object_add(json, "restarts", json_object_new_int64(facts->n_restarts));
        if (facts->starters) {
                json_object *starters = json_object_new_array();

                for (char **unit_name = facts->starters; *unit_name; unit_name++)
                        json_object_array_add(starters, fact_text(*unit_name));
                json_object_object_add(json, "starters", starters);
        }
        return json;
}

char *unit_cause_of_error(const char *unit, UnitVerb verb, const sd_bus_error *error, bool goes_down) {
        g_autofree char *text = g_strdup(error->message ?: error->name);
        size_t length = strlen(text);
        char other[256], type[32];

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
            sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                return g_strdup_printf("cannot %s %s: there is no systemd on this bus", unit_verbs[verb].type, unit);

        /* systemd ends its messages with a full stop; remove it, because our text continues. */
        if (length > 0 && text[length - 1] == '.')
                text[length - 1] = 0;

        /* "Transaction for UNIT/start is destructive (OTHER has 'start' job queued, but 'stop' is included ...)". When
         * the machine goes down, systemd names any of the jobs of that, often that of a target. */
        if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.TransactionIsDestructive") && !goes_down &&
            sscanf(text, "%*[^(](%255[^ ] has '%31[^']' job queued", other, type) == 2) {
                if (strcmp(other, unit) == 0)
                        return g_strdup_printf("cannot %s %s: it has a '%s' job, which this mode does not replace",
                                               unit_verbs[verb].type, unit, type);
                if (strcmp(type, "start") == 0 && !g_str_has_suffix(other, ".target"))
                        return g_strdup_printf(
                                "cannot %s %s: it conflicts with %s, which has a 'start' job; this mode does not "
                                "replace that",
                                unit_verbs[verb].type, unit, other);
        }
        if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.TransactionIsDestructive"))
                return g_strdup_printf("cannot %s %s: systemd has jobs that must not be replaced, as when the machine "
                                       "goes down (%s)",
                                       unit_verbs[verb].type, unit, text);

        return g_strdup_printf("cannot %s %s: %s", unit_verbs[verb].type, unit, text);
}
