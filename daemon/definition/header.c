/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Defines the tables of the keys at the top of a tree file and of each of its trees, as node types have theirs. The
 * loader and the schema use them. */

#include <string.h>

#include "basic/excerpt.h"
#include "definition/declarations.h"
#include "definition/header.h"
#include "definition/on-finished.h"

#define TYPE_PARAM                                                                                                     \
        {                                                                                                              \
                .name = "type", .kind = PARAM_ENUM, .offset = offsetof(Declaration, type), .required = true,           \
                .values = variable_type_names, .doc = "The type of its value"                                          \
        }

#define DESCRIPTION_PARAM                                                                                              \
        {                                                                                                              \
                .name = "description", .kind = PARAM_STRING, .offset = offsetof(Declaration, description),             \
                .doc = "What it is for, in one line"                                                                   \
        }

/* The name is the key of this object, and load/load-header.c checks whether a default is given. */
const Param input_params[] = {
        TYPE_PARAM,
        { .name = "default",
          .kind = PARAM_JSON,
          .offset = offsetof(Declaration, fallback),
          .doc = "The value if none is given; without a default, a value must be given" },
        DESCRIPTION_PARAM,
        { .name = "kept",
          .kind = PARAM_BOOL,
          .offset = offsetof(Declaration, kept),
          .fallback = "false",
          .doc = "Whether the next run gets its last value" },
        { .name = "secret",
          .kind = PARAM_BOOL,
          .offset = offsetof(Declaration, secret),
          .fallback = "false",
          .doc = "Whether its value is shown and stored nowhere, and only leaves get it" },
        {},
};

const Param output_params[] = {
        TYPE_PARAM,
        DESCRIPTION_PARAM,
        {},
};

const Param tree_params[] = {
        { .name = "description", .kind = PARAM_STRING, .doc = "What the tree is for, in one line" },
        {},
};

const char *const restart_names[] = {
        [RESTART_NO] = "no",
        [RESTART_ON_FAILURE] = "on-failure",
        [RESTART_ALWAYS] = "always",
        NULL,
};

static const char *const on_stop_names[] = { [ON_STOP_KEEP] = "keep", [ON_STOP_HALT] = "halt", NULL };

static const Param limit_members[] = {
        { .name = "burst",
          .kind = PARAM_INT,
          .offset = offsetof(RestartLimit, burst),
          .fallback = "5",
          .min = 1,
          .max = RESTART_BURST_MAX,
          .doc = "The maximum number of restarts within the interval" },
        { .name = "interval",
          .kind = PARAM_SPAN,
          .offset = offsetof(RestartLimit, interval),
          .fallback = "\"10min\"",
          .doc = "The interval" },
        {},
};

static char *who_problem(const char *text) {
        const char *name = text + (*text == '@');
        g_autofree char *shown = excerpt(text, strlen(text));

        return *name && !strpbrk(name, "/:@ \t\n")
                       ? NULL
                       : g_strdup_printf("'%s' is not a user, such as 'alice', nor a group, such as '@operators'",
                                         shown);
}

static char *who_trap(const char *text) {
        const char *name = text + (*text == '@');

        if (*text == '%')
                return g_strdup_printf("a group is written '@%s'", text + 1);

        return name[strspn(name, G_CSET_DIGITS)]
                       ? NULL
                       : g_strdup_printf(
                                 "'%s' is the name of an account here, and not a number; hardly any account has "
                                 "such a name",
                                 name);
}

static const TextFormat who_format = { .name = "a user, or a group behind an '@'",
                                       .pattern = "^@?[^/:@ \\t\\n]+$",
                                       .problem = who_problem,
                                       .trap = who_trap };

#define ACCESS_MEMBER(verb, index, what)                                                                               \
        {                                                                                                              \
                .name = verb, .kind = PARAM_STRINGS, .offset = offsetof(Access, who[index]), .format = &who_format,    \
                .doc = "Which users other than root may " what                                                         \
        }

static const Param access_members[] = {
        ACCESS_MEMBER("start", ACCESS_START, "start it"),
        ACCESS_MEMBER("halt", ACCESS_HALT, "halt it"),
        ACCESS_MEMBER("control", ACCESS_CONTROL, "pause and resume its runs"),
        ACCESS_MEMBER("set", ACCESS_SET, "set variables of its runs"),
        ACCESS_MEMBER("force", ACCESS_FORCE, "force outcomes in its runs"),
        {},
};

const Param header_params[] = {
        { .name = "btd",
          .kind = PARAM_INT,
          .offset = offsetof(Header, btd),
          .required = true,
          .doc = "The version of the format, which is 1" },
        { .name = "description",
          .kind = PARAM_STRING,
          .offset = offsetof(Header, description),
          .doc = "What the tree is for, in one line" },
        { .name = "autostart",
          .kind = PARAM_BOOL,
          .offset = offsetof(Header, autostart),
          .fallback = "false",
          .doc = "Whether the tree is started with btd" },
        { .name = "interval",
          .kind = PARAM_SPAN,
          .offset = offsetof(Header, interval),
          .fallback = "\"100ms\"",
          .min = 1000,
          .max = INT64_MAX,
          .doc = "How long a run waits before it tries some nodes again without any event" },
        { .name = "on_stop",
          .kind = PARAM_ENUM,
          .offset = offsetof(Header, on_stop),
          .fallback = "\"keep\"",
          .values = on_stop_names,
          .doc = "What happens to a run when the service is stopped: it continues when the service is started again, "
                 "or it is halted" },
        { .name = "restart",
          .kind = PARAM_ENUM,
          .offset = offsetof(Header, restart.when),
          .fallback = "\"no\"",
          .values = restart_names,
          .doc = "When another run is started after a run has finished by itself" },
        { .name = "restart_backoff",
          .kind = PARAM_OBJECT,
          .offset = offsetof(Header, restart.backoff),
          .fallback = "{ \"initial\": \"100ms\" }",
          .members = backoff_members,
          .members_size = sizeof(Backoff),
          .doc = "The delays before the next run is started" },
        { .name = "restart_limit",
          .kind = PARAM_OBJECT,
          .offset = offsetof(Header, restart.limit),
          .fallback = "{}",
          .members = limit_members,
          .members_size = sizeof(RestartLimit),
          .doc = "How often it is restarted" },
        { .name = "on_finished",
          .kind = PARAM_JSON,
          .offset = offsetof(Header, on_finished),
          .elements = &on_finished_rule,
          .doc = "What is started when a run has finished and is not restarted: units, and other trees" },
        { .name = "access",
          .kind = PARAM_OBJECT,
          .offset = offsetof(Header, access),
          .members = access_members,
          .members_size = sizeof(Access),
          .doc = "What users other than root may do: lists of users, and of groups with a leading '@'" },
        { .name = "$schema",
          .kind = PARAM_STRING,
          .offset = offsetof(Header, schema),
          .doc = "The schema by which editors check the file" },
        {},
};
