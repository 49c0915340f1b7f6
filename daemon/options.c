/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Parses the command line with GLib, and checks the values. */

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "basic/span.h"
#include "basic/version.h"
#include "definition/definition.h"
#include "leaf-types/leaf-types.h"
#include "options.h"

#define EXIT_USAGE 2

/* Less than the time after which systemd kills a service that does not stop. */
#define STOP_TIMEOUT_DEFAULT "30s"

/* The options as given, before they are checked. */
typedef struct Given {
        gboolean system, user, version;
        char *address, *log_level, *stop_timeout, *runtime, *state;
        char **trees;
        char **limits;
        char **on_finished;
        char **rest;
} Given;

static void given_clear(Given *given) {
        g_free(given->address);
        g_free(given->log_level);
        g_free(given->stop_timeout);
        g_free(given->runtime);
        g_free(given->state);
        g_strfreev(given->trees);
        g_strfreev(given->limits);
        g_strfreev(given->on_finished);
        g_strfreev(given->rest);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Given, given_clear)

static int G_GNUC_PRINTF(1, 2) usage_error(const char *format, ...) {
        va_list args;

        fputs("btd: ", stderr);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputs("\nSee 'btd --help'.\n", stderr);
        return EXIT_USAGE;
}

static int parse(Given *given, int argc, char **argv, char **ret_error) {
        const GOptionEntry entries[] = {
                { "system", 0, 0, G_OPTION_ARG_NONE, &given->system, "Serve the system (default)", NULL },
                { "user", 0, 0, G_OPTION_ARG_NONE, &given->user, "Serve a user, on the session bus", NULL },
                { "address", 0, 0, G_OPTION_ARG_STRING, &given->address, "Use the bus at this D-Bus address",
                  "ADDRESS" },
                { "trees", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given->trees,
                  "Load trees only from here; can be repeated, the first has precedence", "DIRECTORY" },
                { "runtime", 0, 0, G_OPTION_ARG_FILENAME, &given->runtime,
                  "Directory for the state that must survive a restart of btd", "DIRECTORY" },
                { "state", 0, 0, G_OPTION_ARG_FILENAME, &given->state,
                  "Directory for the history, which survives a restart of the machine", "DIRECTORY" },
                { "log-level", 0, 0, G_OPTION_ARG_STRING, &given->log_level,
                  "error, warning, notice, info (default) or debug", "LEVEL" },
                { "stop-timeout", 0, 0, G_OPTION_ARG_STRING, &given->stop_timeout,
                  "How long to wait for runs when stopping (" STOP_TIMEOUT_DEFAULT ")", "SPAN" },
                { "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given->limits,
                  "Set a limit, see LIMITS in btd(8); can be repeated", "NAME=NUMBER" },
                { "on-finished", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given->on_finished,
                  "Start a unit or a tree after runs of any tree, see btd(8); can be repeated", "RULE" },
                { "version", 0, 0, G_OPTION_ARG_NONE, &given->version, "Show the version", NULL },
                { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &given->rest, NULL, NULL },
                { NULL },
        };
        g_autoptr(GOptionContext) context = g_option_context_new(NULL);
        g_autoptr(GError) error = NULL;
        g_auto(GStrv) arguments = g_strdupv(argv);
        bool good;

        g_option_context_add_main_entries(context, entries, NULL);
        g_option_context_set_summary(context, "Run behavior trees.");
        g_option_context_set_description(context, "btctl(1) controls btd. See also btd(8) and btd-tree(5).");

        /* GLib prints its help in the character set of the locale. All else must not depend on the locale, so reset
         * it. */
        setlocale(LC_CTYPE, "");
        good = g_option_context_parse_strv(context, &arguments, &error);
        setlocale(LC_CTYPE, "C");
        if (good)
                return 0;

        *ret_error = g_strdup(error->message);
        return -EINVAL;
}

static int parse_log_level(const char *name, int *ret_level) {
        static const struct {
                const char *name;
                int level;
        } levels[] = {
                { "error", LOG_ERR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
                { "info", LOG_INFO }, { "debug", LOG_DEBUG },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
                if (strcmp(levels[i].name, name) == 0) {
                        *ret_level = levels[i].level;
                        return 0;
                }

        return -EINVAL;
}

/* The rules are checked as those of a tree file. */
static int read_rules(char **texts, json_object **ret_rules, char **ret_error) {
        static const NodeType *const *const tables[] = { engine_types, leaf_types, NULL };
        g_autoptr(Diagnostics) diagnostics = diagnostics_new("--on-finished");
        g_autoptr(json_object) file = json_object_new_object(), root = json_object_new_object();
        json_object *rules = json_object_new_array();
        g_autoptr(Definition) definition = NULL;
        const char *text;

        json_object_object_add(root, "type", json_object_new_string("AlwaysSuccess"));
        json_object_object_add(file, "btd", json_object_new_int(HEADER_VERSION));
        json_object_object_add(file, "on_finished", rules);
        json_object_object_add(file, "root", json_object_get(root));
        for (; texts && *texts; texts++) {
                g_autofree char *number = NULL;
                json_object *rule = NULL;

                if (json_parse(*texts, strlen(*texts), JSON_NESTING_MAX, &rule, &number) < 0) {
                        *ret_error = g_strdup_printf("'%s' is not JSON", *texts);
                        return -EINVAL;
                }
                json_object_array_add(rules, rule);
        }

        text = json_object_to_json_string(file);
        if (definition_load_text(text, strlen(text), tables, NULL, diagnostics, &definition) < 0) {
                *ret_error = g_strdup(diagnostics_get(diagnostics, 0)->text);
                return -EINVAL;
        }
        if (json_object_array_length(rules) > 0)
                *ret_rules = json_object_get(rules);
        return 0;
}

/* Without an option, it is the directory of the service, from the environment; the variable can be a list, see
 * systemd.exec(5). Without a service, btd --user uses a directory of the user. */
static char *find_directory(const Given *given, const char *directory, const char *variable, const char *of_user) {
        const char *of_service = g_getenv(variable);

        if (directory)
                return g_canonicalize_filename(directory, NULL);
        if (of_service)
                return g_strndup(of_service, strcspn(of_service, ":"));

        return given->user && !given->address ? g_build_filename(of_user, "btd", NULL) : NULL;
}

int options_parse(Options *options, int argc, char **argv) {
        g_auto(Given) given = { 0 };
        g_autofree char *error = NULL;

        if (parse(&given, argc, argv, &error) < 0)
                return usage_error("%s", error);
        if (given.version) {
                version_print("btd", BTD_VERSION);
                return EXIT_SUCCESS;
        }

        if (given.rest)
                return usage_error("'%s' is unexpected: btd takes no arguments; use btctl(1) to control it",
                                   given.rest[0]);
        if (given.system && given.user)
                return usage_error("--system and --user cannot be given together");
        if (parse_log_level(given.log_level ? given.log_level : "info", &options->log_level) < 0)
                return usage_error("'%s' is not a log level; give error, warning, notice, info or debug",
                                   given.log_level);
        if (span_parse(given.stop_timeout ? given.stop_timeout : STOP_TIMEOUT_DEFAULT, &options->stop_timeout) < 0)
                return usage_error("'%s' is not a time span; give one like 30s or 1min", given.stop_timeout);
        if ((given.runtime && *given.runtime == '\0') || (given.state && *given.state == '\0'))
                return usage_error("--runtime= and --state= need the name of a directory");
        for (char **tree = given.trees; tree && *tree; tree++) {
                g_autofree char *given_path = *tree;

                /* Absolute, because the bus shows the paths. */
                *tree = g_canonicalize_filename(given_path, NULL);
                if (*given_path == '\0' || !g_utf8_validate(given_path, -1, NULL))
                        return usage_error("--trees= needs the name of a directory, in UTF-8");
        }

        options->limits = limits_default;
        for (char **limit = given.limits; limit && *limit; limit++)
                if (limits_set(&options->limits, *limit, &error) < 0)
                        return usage_error("%s", error);
        if (read_rules(given.on_finished, &options->on_finished, &error) < 0)
                return usage_error("--on-finished: %s", error);

        options->runtime = find_directory(&given, given.runtime, "RUNTIME_DIRECTORY", g_get_user_runtime_dir());
        options->state = find_directory(&given, given.state, "STATE_DIRECTORY", g_get_user_state_dir());
        options->user = given.user;
        options->address = g_steal_pointer(&given.address);
        options->trees = given.trees ? g_steal_pointer(&given.trees) : search_path_new(given.user);
        return OPTIONS_RUN;
}

void options_clear(Options *options) {
        g_free(options->address);
        g_free(options->runtime);
        g_free(options->state);
        g_strfreev(options->trees);
        json_object_put(options->on_finished);
}
