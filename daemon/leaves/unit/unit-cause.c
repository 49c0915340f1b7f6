/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Describes failed jobs and ended processes. The terms of systemd are in brackets, so that users can look them up:
 * results of units in systemd.exec(5) under $SERVICE_RESULT, results of jobs in org.freedesktop.systemd1(5) under
 * JobRemoved(). The exit statuses above 200 are systemd's, see systemd.exec(5), "Process Exit Codes".
 */

#include <signal.h>
#include <string.h>

#include "basic/cause.h"
#include "leaf-types/unit-names.h"
#include "leaves/unit/unit-cause.h"

const char *unit_verb_method(UnitVerb verb) {
        static const char *const methods[] = {
                [UNIT_START] = "StartUnit",
                [UNIT_STOP] = "StopUnit",
                [UNIT_RESTART] = "RestartUnit",
                [UNIT_RELOAD] = "ReloadUnit",
        };

        return methods[verb];
}

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
        switch (status) {
        case 200:
                return "its working directory could not be entered (status 200/CHDIR)";
        case 202:
                return "its file descriptors could not be set up (status 202/FDS)";
        case 203:
                return "its program could not be executed (status 203/EXEC)";
        case 208:
                return "its standard input could not be set up (status 208/STDIN)";
        case 209:
                return "its standard output could not be set up (status 209/STDOUT)";
        case 214:
                return "its scheduling policy could not be set (status 214/SETSCHEDULER)";
        case 216:
                return "its group does not exist or may not be used (status 216/GROUP)";
        case 217:
                return "its user does not exist or may not be used (status 217/USER)";
        case 218:
                return "its capabilities could not be set (status 218/CAPABILITIES)";
        case 219:
                return "its control group could not be set up (status 219/CGROUP)";
        case 226:
                return "its mount namespace could not be set up (status 226/NAMESPACE)";
        case 228:
                return "its system call filter could not be set up (status 228/SECCOMP)";
        case 233:
        case 238:
        case 239:
        case 240:
        case 241:
                return "its directories could not be created";
        default:
                return NULL;
        }
}

static const struct {
        const char *bare, *past;
} verbs[] = {
        [UNIT_START] = { "start", "started" },
        [UNIT_STOP] = { "stop", "stopped" },
        [UNIT_RESTART] = { "restart", "restarted" },
        [UNIT_RELOAD] = { "reload", "reloaded" },
};

/* Is the result about how a process ended, and was it the main process? */
static bool main_process_failed(const UnitFacts *facts) {
        static const char *const results[] = { "exit-code", "signal", "core-dump", NULL };

        return facts->result && g_strv_contains(results, facts->result) && facts->exec_main_code != 0 &&
               (facts->exec_main_code != CLD_EXITED || facts->exec_main_status != 0);
}

static char *main_process_describe(const UnitFacts *facts) {
        g_autofree char *end = NULL;
        const char *exec;

        if (!main_process_failed(facts))
                return NULL;

        exec = facts->exec_main_code == CLD_EXITED ? exit_status_of_exec(facts->exec_main_status) : NULL;
        if (exec)
                return g_strdup(exec);

        end = exit_status_describe(facts->exec_main_code, facts->exec_main_status);
        return g_strdup_printf("its main process %s", end);
}

static char *unit_result_describe(const UnitFacts *facts) {
        g_autofree char *process = NULL;
        const char *text;

        if (!facts->result || strcmp(facts->result, "success") == 0)
                return NULL;

        process = main_process_describe(facts);
        if (process && strcmp(facts->result, "exit-code") == 0)
                return g_steal_pointer(&process);

        text = process ?: unit_result_text(facts->result);
        return text ? g_strdup_printf("%s (result '%s')", text, facts->result)
                    : g_strdup_printf("result '%s'", facts->result);
}

/* The job is done, but the unit is not in the requested state. */
static char *cause_behind_done(const char *unit, UnitVerb verb, const UnitFacts *facts) {
        g_autofree char *result = unit_result_describe(facts), *state = unit_facts_describe(facts);
        bool again = unit_sub_state_restarts(facts->sub_state);

        if (facts->unmet_condition)
                return g_strdup_printf("%s was not %s: its %s was not met", unit, verbs[verb].past,
                                       facts->unmet_condition);
        if (g_strcmp0(facts->result, "exec-condition") == 0)
                return g_strdup_printf("%s was not %s: %s", unit, verbs[verb].past, result);
        if (!facts->condition_result)
                return g_strdup_printf("%s was not %s: one of its conditions was not met", unit, verbs[verb].past);
        if (result)
                return g_strdup_printf("%s failed: %s%s", unit, result,
                                       again ? "; its Restart= setting starts it again" : "");

        return g_strdup_printf("%s was %s, but now it is %s", unit, verbs[verb].past, state);
}

static char *cause_of_failed(const char *unit, UnitVerb verb, const UnitFacts *facts) {
        g_autofree char *result = unit_result_describe(facts);

        if (verb == UNIT_RELOAD)
                return g_strdup_printf("%s was not reloaded: its reload command failed (result 'failed')", unit);
        if (result)
                return g_strdup_printf("%s failed: %s", unit, result);

        return g_strdup_printf("%s was not %s: it failed, its journal may say why (result 'failed')", unit,
                               verbs[verb].past);
}

/* Takes the cause. Says what to do if the unit cannot be started for a while. */
static char *add_advice(char *cause, const char *unit, const UnitFacts *facts, bool user) {
        g_autofree char *text = cause;

        if (g_strcmp0(facts->result, UNIT_RESULT_START_LIMIT) != 0)
                return g_steal_pointer(&text);

        return g_strdup_printf("%s; to start it at once, call 'systemctl %sreset-failed %s' first", text,
                               user ? "--user " : "", unit);
}

char *unit_cause(const char *unit, UnitVerb verb, const char *result, const UnitFacts *facts, bool user) {
        g_autofree char *known = NULL;
        const char *text;

        if (strcmp(result, "done") == 0)
                return add_advice(cause_behind_done(unit, verb, facts), unit, facts, user);
        if (strcmp(result, "failed") == 0)
                return add_advice(cause_of_failed(unit, verb, facts), unit, facts, user);

        if (strcmp(result, "assert") == 0 && facts->unmet_assert)
                text = known = g_strdup_printf("its %s was not met", facts->unmet_assert);
        else if (strcmp(result, "dependency") == 0 && facts->failed_required)
                text = known = g_strdup_printf("%s, which it requires, failed", facts->failed_required);
        else
                text = job_result_text(result) ?: "its job ended";

        return g_strdup_printf("%s was not %s: %s (result '%s')", unit, verbs[verb].past, text, result);
}

json_object *unit_cause_facts(const char *unit, const char *bus, const char *result, const UnitFacts *facts) {
        json_object *json = facts_new(
                "unit", fact_text(unit), "bus", fact_text(bus), "job_result", fact_text(result), "result",
                fact_text(facts->result), "load_state", fact_text(facts->load_state), "active_state",
                fact_text(facts->active_state), "sub_state", fact_text(facts->sub_state), "unmet_condition",
                fact_text(facts->unmet_condition), "unmet_assert", fact_text(facts->unmet_assert), "failed_required",
                fact_text(facts->failed_required), "invocation_id", fact_text(facts->invocation_id), NULL);

        if (main_process_failed(facts))
                exit_status_add_facts(facts->exec_main_code, facts->exec_main_status, json);
        return json;
}

char *unit_cause_of_error(const char *unit, UnitVerb verb, const sd_bus_error *error) {
        g_autofree char *text = g_strdup(error->message ?: error->name);
        size_t length = strlen(text);

        if (sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
            sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
                return g_strdup_printf("cannot %s %s: there is no systemd on this bus", verbs[verb].bare, unit);

        /* systemd ends its messages with a full stop; remove it, because our text continues. */
        if (length > 0 && text[length - 1] == '.')
                text[length - 1] = 0;

        if (sd_bus_error_has_name(error, "org.freedesktop.systemd1.TransactionIsDestructive"))
                return g_strdup_printf("cannot %s %s: systemd has jobs that must not be replaced, as when the machine "
                                       "goes down (%s)",
                                       verbs[verb].bare, unit, text);

        return g_strdup_printf("cannot %s %s: %s", verbs[verb].bare, unit, text);
}
