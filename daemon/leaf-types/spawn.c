/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes the types Spawn and Command, and makes the checks of their parameters that the tables cannot express. */

#include <signal.h>
#include <string.h>

#include "definition/params/param-report.h"
#include "engine/tree.h"
#include "leaf-types/leaf-types.h"
#include "leaf-types/shell-words.h"
#include "leaf-types/spawn.h"

/* Microseconds. */
#define INTERVAL_MIN (10 * 1000)

static const char *const ways[] = { "auto", "unit", "child", NULL };

static const char *const format_names[] = {
        [OUTPUT_TEXT] = "text", [OUTPUT_LINES] = "lines", [OUTPUT_WORDS] = "words",
        [OUTPUT_JSON] = "json", [OUTPUT_BYTES] = "bytes", NULL,
};

static const char *const signal_names[] = {
        "SIGTERM", "SIGINT",  "SIGHUP",  "SIGQUIT",  "SIGKILL", "SIGUSR1",
        "SIGUSR2", "SIGABRT", "SIGALRM", "SIGWINCH", NULL,
};
static const int signals[] = {
        SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGKILL, SIGUSR1, SIGUSR2, SIGABRT, SIGALRM, SIGWINCH,
};

int spawn_params_signal(const SpawnParams *params) {
        return signals[params->kill_signal];
}

static void spawn_params_check(const Tree *tree, NodeId node, Findings *findings) {
        static const char *const words[] = { "null", "inherit", "none", "file", "tty", NULL };
        const SpawnParams *params = tree->nodes[node].params;

        if (params->stdout_format != OUTPUT_TEXT && !params->stdout_key)
                findings_error(findings, "stdout_format", -1,
                               "stdout_format: there is no 'stdout', the name of the variable for the output");
        if (params->stdout_key && g_strv_contains(words, params->stdout_key))
                findings_trap(findings, "stdout",
                              "stdout: '%s' is the name of a variable here; without 'stdout' the output goes to the "
                              "journal, and 'properties' has \"StandardOutput\"",
                              params->stdout_key);
        if (json_object_object_get_ex(params->properties, "TimeoutStartSec", NULL))
                findings_trap(findings, "properties",
                              "properties: \"TimeoutStartSec\" limits only the start of the program; the parameter "
                              "'timeout' limits how long it runs");
        if (params->stdout_key && g_strcmp0(params->stdout_key, params->stderr_key) == 0)
                findings_trap(findings, "stderr",
                              "stderr: 'stdout' sets '%s', too, so one output overwrites the other; use two variables",
                              params->stdout_key);
}

/* Only a unit has these. */
static const ParamRule spawn_rules[] = {
        { RULE_NOT_WITH, { "properties", "as" }, .word = "child", .why = "only a unit has properties" },
        {},
};

static const Param exit_status = { .name = "", .kind = PARAM_INT, .min = 0, .max = 255 };

/* Refuses values that no program can get past systemd unchanged, and two places for one output. */
static int properties_fit(const ParamSetter *setter, const Place *place, json_object *value, const void *values) {
        const char *property = NULL;
        g_autofree char *problem =
                spawn_properties_conflict(value, values, &property) ?: spawn_handover_complaint(values, &property);
        Place at = { .parent = place, .key = property };

        return problem ? param_report_key(setter, &at, "%s", problem) : 0;
}

/* The parameters that Spawn and Command have in common. */
#define PROCESS_PARAMS                                                                                                 \
        {                                                                                                              \
                .name = "argv",                                                                                        \
                .kind = PARAM_STRINGS,                                                                                 \
                .offset = offsetof(SpawnParams, argv),                                                                 \
                .first_format = &program_format,                                                                       \
                .trap = shell_words_in_argv,                                                                           \
                .seen = true,                                                                                          \
                .not_empty = true,                                                                                     \
                .required = true,                                                                                      \
                .title = true,                                                                                         \
                .doc = "The program, as a path or a name that is looked up in PATH, and its arguments; there is no "   \
                       "shell",                                                                                        \
        },                                                                                                             \
                {                                                                                                      \
                        .name = "env",                                                                                 \
                        .kind = PARAM_STRING_MAP,                                                                      \
                        .offset = offsetof(SpawnParams, env),                                                          \
                        .key_format = &environment_name_format,                                                        \
                        .trap = shell_words_in_env,                                                                    \
                        .doc = "Variables that are added to its environment",                                          \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "cwd",                                                                                 \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, cwd),                                                          \
                        .format = &path_format,                                                                        \
                        .doc = "Its working directory",                                                                \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "user",                                                                                \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, user),                                                         \
                        .format = &account_format,                                                                     \
                        .doc = "The user it runs as, by name or number; by default that of btd; as for units, HOME, "  \
                               "USER and SHELL are set if it is given, also for \"root\"",                             \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "group",                                                                               \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, group),                                                        \
                        .format = &account_format,                                                                     \
                        .doc = "The group it runs as; by default that of its user",                                    \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "as",                                                                                  \
                        .kind = PARAM_ENUM,                                                                            \
                        .offset = offsetof(SpawnParams, as),                                                           \
                        .fallback = "\"auto\"",                                                                        \
                        .values = ways,                                                                                \
                        .doc = "How it runs: \"unit\": as a transient unit of systemd; \"child\": as a child process " \
                               "of btd; \"auto\": as a unit if systemd has run since btd started (if it is away, "     \
                               "the node waits for it), otherwise as a child process",                                 \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "properties",                                                                          \
                        .kind = PARAM_JSON,                                                                            \
                        .offset = offsetof(SpawnParams, properties),                                                   \
                        .value_format = &spawn_properties_format,                                                      \
                        .fits = properties_fit,                                                                        \
                        .fits_with = "argv",                                                                           \
                        .doc = "Settings of its unit as in systemd.exec(5) and systemd.resource-control(5), like "     \
                               "{\"MemoryMax\": \"64M\", \"SystemCallFilter\": \"@system-service\"}; rare ones with "  \
                               "their D-Bus type, like "                                                               \
                               "{\"SecureBits\": {\"signature\": \"i\", \"value\": 1}}",                               \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stdin",                                                                               \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, input),                                                        \
                        .trap = shell_words_in_stdin,                                                                  \
                        .doc = "The text on its standard input; by default nothing",                                   \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stdout",                                                                              \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, stdout_key),                                                   \
                        .writes = true,                                                                                \
                        .doc = "The variable that gets its standard output, without the newline at the end; by "       \
                               "default the output goes to the journal",                                               \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stdout_format",                                                                       \
                        .kind = PARAM_ENUM,                                                                            \
                        .offset = offsetof(SpawnParams, stdout_format),                                                \
                        .fallback = "\"text\"",                                                                        \
                        .values = format_names,                                                                        \
                        .doc = "What that variable gets, see below",                                                   \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stderr",                                                                              \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, stderr_key),                                                   \
                        .writes = true,                                                                                \
                        .doc = "The same for its standard error, which goes to the journal, too",                      \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "output_limit",                                                                        \
                        .kind = PARAM_INT,                                                                             \
                        .offset = offsetof(SpawnParams, output_limit),                                                 \
                        .fallback = "65536",                                                                           \
                        .max = 1 << 30,                                                                                \
                        .doc = "How many bytes of each output are kept; if there are more, the leaf fails",            \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "cut_output",                                                                          \
                        .kind = PARAM_BOOL,                                                                            \
                        .offset = offsetof(SpawnParams, cut_output),                                                   \
                        .fallback = "false",                                                                           \
                        .doc = "true: a longer output is cut, and the leaf does not fail",                             \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "success_exit",                                                                        \
                        .kind = PARAM_JSON,                                                                            \
                        .offset = offsetof(SpawnParams, success_exit),                                                 \
                        .elements = &exit_status,                                                                      \
                        .not_empty = true,                                                                             \
                        .fallback = "[0]",                                                                             \
                        .doc = "The exit statuses that mean success",                                                  \
                },                                                                                                     \
                TIMEOUT_PARAM(SpawnParams, "\"infinity\"",                                                             \
                              .doc = "How long it may run; then it is stopped, and fails"),                            \
                {                                                                                                      \
                        .name = "kill_signal",                                                                         \
                        .kind = PARAM_ENUM,                                                                            \
                        .offset = offsetof(SpawnParams, kill_signal),                                                  \
                        .fallback = "\"SIGTERM\"",                                                                     \
                        .values = signal_names,                                                                        \
                        .doc = "The signal that it gets first when it is halted",                                      \
                },                                                                                                     \
        {                                                                                                              \
                .name = "kill_timeout", .kind = PARAM_SPAN, .offset = offsetof(SpawnParams, kill_timeout),             \
                .fallback = "\"10s\"", .doc = "How long it may take to end after that signal; then it gets SIGKILL",   \
        }

static const Param command_params[] = {
        {
                .name = "interval",
                .kind = PARAM_SPAN,
                .offset = offsetof(SpawnParams, interval),
                .fallback = "\"10s\"",
                .min = INTERVAL_MIN,
                .doc = "The time from the end of one execution to the start of the next; \"infinity\": it runs only "
                       "once",
        },
        UNKNOWN_PARAM(SpawnParams),
        PROCESS_PARAMS,
        {},
};

static const Param spawn_params[] = {
        PROCESS_PARAMS,
        ON_RECOVER_PARAM(SpawnParams),
        {},
};

const NodeType spawn_type = {
        .name = "Spawn",
        .class = NODE_ACTION,
        .params = spawn_params,
        .params_size = sizeof(SpawnParams),
        .rules = spawn_rules,
        .flags = TYPE_PROCESS,
        .summary = "Runs a program and waits for its end",
        .doc = "Succeeds when the program exits with a status in success_exit.\n\nWith systemd, the program "
               "runs as a transient unit: it has its own control group and its own lines in the journal, can have any "
               "property that systemd knows, and is not in btd's sandbox. Without systemd, it runs as a child process "
               "of btd, with its own process group.\n\nProcesses that the program leaves running are stopped with it; "
               "to start something that stays, use StartUnit. Those of a child process can escape, by leaving "
               "the process group.",
        .halting = "The process and everything that it started get kill_signal, and after kill_timeout SIGKILL.",
        .recovery =
                "The process of a unit has continued, and its end counts as usual. If btd cannot know how the process "
                "ended, because systemd has forgotten its unit or it was a child process, on_recover decides: \"fail\" "
                "is a "
                "FAILURE with a cause of the kind lost, \"rerun\" runs the program again.",
        .check = spawn_params_check,
        .has_timeout = true,
        .timeout_offset = offsetof(SpawnParams, timeout),
        .has_on_recover = true,
        .on_recover_offset = offsetof(SpawnParams, on_recover),
};

const NodeType command_type = {
        .name = "Command",
        .class = NODE_CONDITION,
        .params = command_params,
        .params_size = sizeof(SpawnParams),
        .rules = spawn_rules,
        .flags = TYPE_PROCESS,
        .summary = "True while a program that is run again and again succeeds",
        .doc = "Runs the program as Spawn does; true if the program exits with a status in success_exit. The program "
               "runs again every interval, as long as the condition is watched. While it runs, the last value stays. "
               "The value is unknown if the program cannot be started, or if its exit status is lost.",
        .halting = "When the condition is no longer watched, the program gets kill_signal, and after kill_timeout "
                   "SIGKILL.",
        .recovery = "A program that the previous btd has left is ended; then the program runs again.",
        .check = spawn_params_check,
};
