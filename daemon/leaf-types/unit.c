/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes the types StartUnit, StopUnit, RestartUnit, ReloadUnit and UnitState. Checks and completes names of units,
 * by the rules of systemd's unit_name_is_valid(). */

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "basic/nearest.h"
#include "engine/types/types.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/unit-names.h"
#include "leaf-types/unit.h"

const char *const unit_job_modes[] = {
        "replace", "fail", "isolate", "ignore-dependencies", "ignore-requirements", "replace-irreversibly", NULL,
};

#define UNIT_PARAM(Type)                                                                                               \
        {                                                                                                              \
                .name = "unit", .kind = PARAM_STRING, .offset = offsetof(Type, unit), .required = true, .title = true, \
                .format = &unit_format, .doc = "The name of the unit, with its suffix, such as .service"               \
        }

#define MODE_PARAM                                                                                                     \
        {                                                                                                              \
                .name = "mode", .kind = PARAM_ENUM, .offset = offsetof(UnitJobParams, mode),                           \
                .fallback = "\"replace\"", .values = unit_job_modes,                                                   \
                .doc = "How to handle conflicting jobs, see --job-mode= in systemctl(1)"                               \
        }

#define BUS_PARAM(Type)                                                                                                \
        {                                                                                                              \
                .name = "bus", .kind = PARAM_STRING, .offset = offsetof(Type, bus), .format = &bus_format,             \
                .doc = "The bus of the service manager; by default that of btd"                                        \
        }

/* The first and the last parameters of all jobs. */
#define JOB_PARAMS UNIT_PARAM(UnitJobParams), MODE_PARAM
#define JOB_PARAMS_END                                                                                                 \
        TIMEOUT_PARAM(UnitJobParams, "\"infinity\"",                                                                   \
                      .doc = "How long it may take; then the node is halted and fails"),                               \
                BUS_PARAM(UnitJobParams), {}

static const Param unit_job_params[] = { JOB_PARAMS, JOB_PARAMS_END };

#define START_PARAMS                                                                                                   \
        JOB_PARAMS,                                                                                                    \
                {                                                                                                      \
                        .name = "wait_for_restarts",                                                                   \
                        .kind = PARAM_BOOL,                                                                            \
                        .offset = offsetof(UnitJobParams, wait_for_restarts),                                          \
                        .fallback = "false",                                                                           \
                        .doc = "When the unit fails, wait as long as systemd starts it again because of its Restart=", \
                },                                                                                                     \
        {                                                                                                              \
                .name = "reset_failed", .kind = PARAM_BOOL, .offset = offsetof(UnitJobParams, reset_failed),           \
                .fallback = "false",                                                                                   \
                .doc = "First forget that the unit has failed, and how often it was started "                          \
                       "(StartLimitBurst=), as systemctl reset-failed does",                                           \
        }

static const Param unit_start_params[] = { START_PARAMS, JOB_PARAMS_END };

static const Param unit_restart_params[] = {
        START_PARAMS,
        {
                .name = "if_active",
                .kind = PARAM_BOOL,
                .offset = offsetof(UnitJobParams, if_active),
                .fallback = "false",
                .doc = "Only restart a unit that is active, as systemctl try-restart does; else do nothing and succeed",
        },
        JOB_PARAMS_END,
};

static const Param unit_reload_params[] = {
        JOB_PARAMS,
        {
                .name = "if_active",
                .kind = PARAM_BOOL,
                .offset = offsetof(UnitJobParams, if_active),
                .fallback = "false",
                .doc = "Only reload a unit that is active; else do nothing and succeed",
        },
        JOB_PARAMS_END,
};

/* Another machine does not go down with this one. */
static void unit_job_check(const Tree *tree, NodeId node, Findings *findings) {
        const UnitJobParams *params = tree->nodes[node].params;
        const NodeType *type = tree->nodes[node].type;

        if ((type == &start_unit_type || type == &restart_unit_type) && !(params->bus && strchr(params->bus, ':')) &&
            cleanup_depends_on(tree, node))
                findings_trap(findings, NULL,
                              "systemd starts no unit while the machine goes down, so a clean-up that needs this fails "
                              "then; use a Spawn or a unit that is running, or a Fallback that has another way; see "
                              "btd-shutdown(7)");
        if (g_strcmp0(unit_job_modes[params->mode], "isolate") == 0)
                findings_trap(findings, "mode",
                              "mode: \"isolate\" stops all units that the unit does not need, also those that other "
                              "trees have started; Conflicts= in the unit stops only the units that it names");
}

#define UNIT_JOB_TYPE(n, p, s, d, h, r)                                                                                \
        {                                                                                                              \
                .name = n, .class = NODE_ACTION, .flags = TYPE_UNIT_JOB, .params = p,                                  \
                .params_size = sizeof(UnitJobParams), .summary = s, .doc = d, .halting = h, .recovery = r,             \
                .check = unit_job_check, .has_timeout = true, .timeout_offset = offsetof(UnitJobParams, timeout)       \
        }

#define START_HALTING                                                                                                  \
        "A job that has not begun is cancelled, unless others need it. The halt does not wait for a job that has "     \
        "begun: systemd completes this job. A unit that was started stays."
#define START_RECOVERY                                                                                                 \
        "No job is requested twice: btd asks systemd what happened meanwhile. SUCCESS if the unit was up after the "   \
        "request; FAILURE if its program failed or somebody has stopped it; FAILURE with a cause of the kind lost if " \
        "systemd no longer knows."

const NodeType start_unit_type = UNIT_JOB_TYPE(
        "StartUnit", unit_start_params, "Starts a systemd unit and waits until it is up",
        "Fails when the unit fails, also if systemd starts it again because of its Restart= (see wait_for_restarts), "
        "when a Condition= setting of the unit is not met, or when a unit that it requires fails.",
        START_HALTING, START_RECOVERY);

const NodeType stop_unit_type = UNIT_JOB_TYPE(
        "StopUnit", unit_job_params, "Stops a systemd unit and waits until it is down",
        "Succeeds also when the unit is not running; fails when there is no such unit, or when the unit is up again "
        "within 100ms. If an active unit or a call to its BusName= can start it again, the status says so.",
        "Ends at once; systemd stops the unit nevertheless.",
        "No job is requested twice: btd asks systemd what happened meanwhile. SUCCESS if the unit has stopped.");

const NodeType restart_unit_type =
        UNIT_JOB_TYPE("RestartUnit", unit_restart_params,
                      "Stops a systemd unit if it is running, starts it, and waits until it is up",
                      "Fails as StartUnit does. With if_active, SUCCESS if the unit is not active; the status says so.",
                      START_HALTING, START_RECOVERY);

const NodeType reload_unit_type = UNIT_JOB_TYPE(
        "ReloadUnit", unit_reload_params,
        "Makes a running systemd unit read its configuration again, and waits until it has",
        "Fails when the unit is not running, cannot reload, or ends within 100ms after the reload. With if_active, "
        "SUCCESS if the unit is not active; the status says so.",
        "A job that has not begun is cancelled, unless others need it. The halt does not wait for a reload that has "
        "begun; the reload continues.",
        "No job is requested twice: btd asks systemd what happened meanwhile.");

/* The members of value in the test of UnitState. */
const char *const unit_state_test_names[] = { "value", NULL };
static const char *const unit_state_test_members[] = { "active_state", "sub_state", "result", "load_state", NULL };

/* Names of states, one or a list. text: its .doc */
#define STATES_PARAM(field, names, text_format, text)                                                                  \
        {                                                                                                              \
                .name = #field, .kind = PARAM_STRINGS, .offset = offsetof(UnitStateParams, field), .single = true,     \
                .not_empty = true, .values = names, .open = true, .format = &text_format, text,                        \
        }

static const Param unit_state_params[] = {
        UNIT_PARAM(UnitStateParams),
        STATES_PARAM(state, unit_active_states, active_state_format,
                     .doc = "Its active state, or a list of allowed states; by default active, reloading or "
                            "refreshing, if no other state is given"),
        STATES_PARAM(sub_state, unit_sub_states, sub_state_format,
                     .doc = "Its state in the terms of its type, or a list"),
        STATES_PARAM(result, unit_results, unit_result_format, .doc = "How it ended, or a list"),
        STATES_PARAM(load_state, unit_load_states, load_state_format,
                     .doc = "Whether systemd could load it, or a list"),
        {
                .name = "test",
                .kind = PARAM_EXPRESSION,
                .extra = unit_state_test_names,
                .extra_members = unit_state_test_members,
                .offset = offsetof(UnitStateParams, test),
                .doc = "An expression over value.active_state, value.sub_state, value.result, value.load_state and the "
                       "variables",
        },
        UNKNOWN_PARAM(UnitStateParams),
        BUS_PARAM(UnitStateParams),
        {},
};

const NodeType unit_state_type = {
        .name = "UnitState",
        .class = NODE_CONDITION,
        .params = unit_state_params,
        .params_size = sizeof(UnitStateParams),
        .summary = "True while a systemd unit is in the given states",
        .doc = "Follows the unit by the signals of systemd. If several parameters are given, all of them must match. "
               "By default, the unit must be up, also while it reloads. The value is unknown while the bus or systemd "
               "is not there. During a daemon-reload or daemon-reexec of systemd the last value stays.",
};

#define LENGTH_MAX 255u
#define ALLOWED "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@"

static const char *const suffixes[] = {
        ".service", ".socket", ".target", ".device", ".mount", ".automount",
        ".swap",    ".timer",  ".path",   ".slice",  ".scope",
};

static char *name_complaint(const char *name) {
        const char *wrong = name + strspn(name, ALLOWED), *at = strchr(name, '@'), *dot = strrchr(name, '.');

        if (*wrong)
                return g_strdup_printf("\"%s\" is not the name of a unit: it may have letters, digits and any of "
                                       "\":-_.\\@\"%s",
                                       name,
                                       *wrong == '%'   ? "; the instance of the run is \"{unit_escape:instance}\""
                                       : *wrong == '$' ? "; a variable is \"{NAME}\""
                                                       : "");
        if (strlen(name) > LENGTH_MAX)
                return g_strdup_printf("\"%.20s...\" is not the name of a unit: it is longer than %u characters", name,
                                       LENGTH_MAX);
        if (dot == name || at == name)
                return g_strdup_printf("\"%s\" is not the name of a unit: there is nothing before the \"%c\"", name,
                                       *name);
        if (at && at + 1 == dot)
                return g_strdup_printf("\"%s\" is a template: put the name of an instance behind the \"@\"", name);

        return NULL;
}

/* Explains that the name has no valid suffix such as ".service". */
static char *suffix_complaint(const char *name) {
        const char *dot = strrchr(name, '.');
        Nearest nearest = { .word = dot };

        for (size_t i = 0; dot && i < G_N_ELEMENTS(suffixes); i++)
                nearest_offer(&nearest, suffixes[i]);

        return nearest.best
                       ? g_strdup_printf("\"%s\" is not the name of a unit: there is no suffix \"%s\"; did you mean "
                                         "\"%.*s%s\"?",
                                         name, dot, (int) (dot - name), name, nearest.best)
                       : NULL;
}

int unit_name_complete(const char *name, char **ret_name, char **ret_error) {
        g_autofree char *complete = NULL, *complaint = NULL;
        bool has_suffix = false;

        if (!*name) {
                *ret_error = g_strdup("the name of the unit is empty");
                return -EINVAL;
        }

        for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
                has_suffix |= g_str_has_suffix(name, suffixes[i]);
        complete = has_suffix ? g_strdup(name) : g_strconcat(name, ".service", NULL);
        complaint = name_complaint(complete) ?: (has_suffix ? NULL : suffix_complaint(name));
        if (complaint) {
                *ret_error = g_steal_pointer(&complaint);
                return -EINVAL;
        }

        *ret_name = g_steal_pointer(&complete);
        return 0;
}

char *unit_name_path(const char *name) {
        char *path = NULL;
        int r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", name, &path);

        if (r < 0)
                g_error("cannot make an object path: %s", g_strerror(-r)); /* no memory: as with g_new() */

        return path;
}
