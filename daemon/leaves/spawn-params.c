/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parameters of Spawn and Command, and what must be right about them beyond their types. */

#include <signal.h>
#include <string.h>

#include "engine/tree.h"
#include "leaves/on-recover.h"
#include "leaves/spawn-properties.h"
#include "leaves/spawn.h"
#include "leaves/unknown.h"

/* Microseconds. */
#define INTERVAL_MIN (10 * 1000)

static const char *const ways[] = { "auto", "unit", "child", NULL };

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

static bool success_exit_valid(json_object *success) {
        if (!json_object_is_type(success, json_type_array) || json_object_array_length(success) == 0)
                return false;

        for (size_t i = 0; i < json_object_array_length(success); i++) {
                json_object *status = json_object_array_get_idx(success, i);

                if (!json_object_is_type(status, json_type_int) || json_object_get_int64(status) < 0 ||
                    json_object_get_int64(status) > 255)
                        return false;
        }

        return true;
}

static const char *env_complaint(const char *const *env) {
        for (size_t i = 0; env && env[i]; i++) {
                size_t length = strcspn(env[i], "=");

                if (length == 0 || g_ascii_isdigit(*env[i]) ||
                    strspn(env[i], G_CSET_A_2_Z G_CSET_a_2_z "_0123456789") != length)
                        return env[i];
        }

        return NULL;
}

char *spawn_params_complaint(const SpawnParams *params) {
        const char *env = env_complaint(params->env), *program = params->argv ? params->argv[0] : NULL;
        char *error = NULL;

        if (params->argv && (!program || !*program))
                return g_strdup("argv: expected a program and its arguments");
        if (program && *program != '/' && strchr(program, '/'))
                return g_strdup_printf("argv: \"%s\" must begin with \"/\", or be a name to look for in PATH", program);
        if (params->cwd && *params->cwd != '/')
                return g_strdup_printf("cwd: \"%s\" must begin with \"/\"", params->cwd);
        if (env)
                return g_strdup_printf("env: \"%.*s\" is not a name for a variable: it may have letters, digits and "
                                       "\"_\", and not begin with a digit",
                                       (int) strcspn(env, "="), env);
        if (params->success_exit && !success_exit_valid(params->success_exit))
                return g_strdup("success_exit: expected a list of exit statuses from 0 to 255, like [0, 3]");
        if (params->properties && params->as == SPAWN_AS_CHILD)
                return g_strdup("properties: only a unit has them, not a child; leave out \"as\"");
        if (params->properties)
                (void) spawn_properties_check(params->properties, &error);

        return error;
}

/* What a shell would do something with. */
static const char *shell_word(const char *const *argv) {
        static const char *const words[] = { "|", "||", "&&", "2>&1", NULL };

        for (; *argv; argv++)
                if (g_strv_contains(words, *argv))
                        return *argv;

        return NULL;
}

char *spawn_params_check(const Tree *tree, NodeId node, bool *ret_is_error) {
        const SpawnParams *params = tree->nodes[node].params;
        char *complaint = spawn_params_complaint(params);
        const char *word = params->argv && !complaint ? shell_word(params->argv) : NULL;

        *ret_is_error = complaint != NULL;
        if (complaint || !params->argv)
                return complaint;

        if (!params->argv[1] && strchr(params->argv[0], ' '))
                return g_strdup_printf("argv: \"%s\" is taken for the name of a program; an argument is an element of "
                                       "its own, as in [\"/bin/ls\", \"-l\"]",
                                       params->argv[0]);
        if (word)
                return g_strdup_printf(
                        "argv: \"%s\" is an argument here, since there is no shell; if one is to see it, "
                        "run [\"/bin/sh\", \"-c\", \"...\"]",
                        word);

        return NULL;
}

/* What Spawn and Command have in common. */
#define PROCESS_PARAMS                                                                                                 \
        {                                                                                                              \
                .name = "argv",                                                                                        \
                .kind = PARAM_STRINGS,                                                                                 \
                .offset = offsetof(SpawnParams, argv),                                                                 \
                .required = true,                                                                                      \
                .title = true,                                                                                         \
                .doc = "The program, by its path or a name to be found in PATH, and its arguments; no shell is "       \
                       "involved",                                                                                     \
        },                                                                                                             \
                {                                                                                                      \
                        .name = "env",                                                                                 \
                        .kind = PARAM_STRING_MAP,                                                                      \
                        .offset = offsetof(SpawnParams, env),                                                          \
                        .doc = "Variables that are added to its environment",                                          \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "cwd",                                                                                 \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, cwd),                                                          \
                        .doc = "Its working directory",                                                                \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "user",                                                                                \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, user),                                                         \
                        .doc = "The user it runs as, by name or number; by default that of the daemon",                \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "group",                                                                               \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, group),                                                        \
                        .doc = "The group it runs as; by default that of its user",                                    \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "as",                                                                                  \
                        .kind = PARAM_ENUM,                                                                            \
                        .offset = offsetof(SpawnParams, as),                                                           \
                        .fallback = "\"auto\"",                                                                        \
                        .values = ways,                                                                                \
                        .doc = "A transient unit of systemd, a child of the daemon, or the first where there is a "    \
                               "systemd",                                                                              \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "properties",                                                                          \
                        .kind = PARAM_JSON,                                                                            \
                        .offset = offsetof(SpawnParams, properties),                                                   \
                        .doc = "Properties of its unit as in systemd.exec(5) and systemd.resource-control(5), like "   \
                               "{\"MemoryMax\": \"64M\"}; less common ones with their D-Bus type, like "               \
                               "{\"AmbientCapabilities\": "                                                            \
                               "{\"signature\": \"t\", \"value\": 1024}}",                                             \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stdin",                                                                               \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, input),                                                        \
                        .doc = "Text that it can read; by default nothing",                                            \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stdout",                                                                              \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, stdout_key),                                                   \
                        .writes = true,                                                                                \
                        .doc = "The variable that gets what it writes, without the newline at the end; by default it " \
                               "goes to "                                                                              \
                               "the "                                                                                  \
                               "journal",                                                                              \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "stderr",                                                                              \
                        .kind = PARAM_STRING,                                                                          \
                        .offset = offsetof(SpawnParams, stderr_key),                                                   \
                        .writes = true,                                                                                \
                        .doc = "The same for its standard error; its last line then is part of the cause of a "        \
                               "failure",                                                                              \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "output_limit",                                                                        \
                        .kind = PARAM_INT,                                                                             \
                        .offset = offsetof(SpawnParams, output_limit),                                                 \
                        .fallback = "65536",                                                                           \
                        .max = 1 << 30,                                                                                \
                        .doc = "How many bytes of each output are kept; what goes beyond is thrown away",              \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "success_exit",                                                                        \
                        .kind = PARAM_JSON,                                                                            \
                        .offset = offsetof(SpawnParams, success_exit),                                                 \
                        .fallback = "[0]",                                                                             \
                        .doc = "The exit statuses that mean success",                                                  \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "timeout",                                                                             \
                        .kind = PARAM_SPAN,                                                                            \
                        .offset = offsetof(SpawnParams, timeout),                                                      \
                        .fallback = "\"infinity\"",                                                                    \
                        .doc = "How long it may run; then it is ended, and has failed",                                \
                },                                                                                                     \
                {                                                                                                      \
                        .name = "kill_signal",                                                                         \
                        .kind = PARAM_ENUM,                                                                            \
                        .offset = offsetof(SpawnParams, kill_signal),                                                  \
                        .fallback = "\"SIGTERM\"",                                                                     \
                        .values = signal_names,                                                                        \
                        .doc = "The signal that asks it to end when it is halted",                                     \
                },                                                                                                     \
        {                                                                                                              \
                .name = "kill_timeout", .kind = PARAM_SPAN, .offset = offsetof(SpawnParams, kill_timeout),             \
                .fallback = "\"10s\"", .doc = "How long it may take to end then, before it is killed",                 \
        }

const Param command_params[] = {
        {
                .name = "interval",
                .kind = PARAM_SPAN,
                .offset = offsetof(SpawnParams, interval),
                .fallback = "\"10s\"",
                .min = INTERVAL_MIN,
                .doc = "How long after its end it is run again; \"infinity\": never",
        },
        UNKNOWN_PARAM(SpawnParams),
        PROCESS_PARAMS,
        {},
};

const Param spawn_params[] = {
        PROCESS_PARAMS,
        ON_RECOVER_PARAM(SpawnParams),
        {},
};
