/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Describes the types that need neither D-Bus nor a process: Condition, PathExists, Log, Script, Sleep, AlwaysSuccess
 * and AlwaysFailure. */

#include <syslog.h>

#include "engine/tree.h"
#include "leaf-types/basic.h"
#include "leaf-types/leaf-types.h"

static const Param condition_params[] = {
        {
                .name = "test",
                .kind = PARAM_EXPRESSION,
                .offset = offsetof(ConditionParams, test),
                .required = true,
                .title = true,
                .doc = "An expression over the variables, like \"battery > 20 and mode ~= 'off'\"",
        },
        {},
};

const NodeType condition_type = {
        .name = "Condition",
        .class = NODE_CONDITION,
        .flags = TYPE_INWARD,
        .params = condition_params,
        .params_size = sizeof(ConditionParams),
        .summary = "True while an expression over the variables is true",
        .doc = "The expression is evaluated again when a variable in it changes. If the expression cannot be "
               "evaluated, the run ends with an ERROR.",
};

/* The levels of syslog(3), in its order, and two other names for them. */
static const char *const level_names[] = {
        "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", "error", "warn", NULL,
};

int log_params_level(const LogParams *params) {
        static const int others[] = { LOG_ERR, LOG_WARNING };

        return params->level <= LOG_DEBUG ? params->level : others[params->level - LOG_DEBUG - 1];
}

static const Param log_params[] = {
        {
                .name = "message",
                .kind = PARAM_STRING,
                .offset = offsetof(LogParams, message),
                .required = true,
                .title = true,
                .shown = true,
                .doc = "The text",
        },
        {
                .name = "level",
                .kind = PARAM_ENUM,
                .offset = offsetof(LogParams, level),
                .fallback = "\"info\"",
                .values = level_names,
                .doc = "How urgent it is",
        },
        {},
};

const NodeType log_type = {
        .name = "Log",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS,
        .params = log_params,
        .params_size = sizeof(LogParams),
        .summary = "Writes a message to the log, with its tree, run and node",
};

static const Param script_params[] = {
        {
                .name = "code",
                .kind = PARAM_CODE,
                .offset = offsetof(ScriptParams, code),
                .required = true,
                .title = true,
                .doc = "Statements in Lua, such as \"tries = tries + 1\"",
        },
        {},
};

const NodeType script_type = {
        .name = "Script",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS | TYPE_INWARD,
        .params = script_params,
        .params_size = sizeof(ScriptParams),
        .summary = "Runs Lua code, which reads and sets variables of the run",
        .doc = "Succeeds when its code has run to its end. If the code fails, the run ends with an ERROR, and no "
               "variable is set.",
};

static const Param sleep_params[] = {
        {
                .name = "duration",
                .kind = PARAM_SPAN,
                .offset = offsetof(SleepParams, duration),
                .required = true,
                .title = true,
                .doc = "How long; \"infinity\" sleeps until it is halted",
        },
        {},
};

static unsigned sleep_never(const Node *nodes, NodeId node) {
        const SleepParams *params = nodes[node].params;

        return params->duration == UINT64_MAX ? TYPE_NEVER_SUCCEEDS : 0;
}

const NodeType sleep_type = {
        .name = "Sleep",
        .class = NODE_ACTION,
        .flags = TYPE_NEVER_FAILS | TYPE_INWARD,
        .never = sleep_never,
        .params = sleep_params,
        .params_size = sizeof(SleepParams),
        .summary = "Succeeds after a time",
        .halting = "Ends at once.",
        .recovery = "Keeps its deadline.",
};

const NodeType always_success_type = {
        .name = "AlwaysSuccess",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS | TYPE_INWARD,
        .summary = "Succeeds at once",
};

static const Param always_failure_params[] = {
        {
                .name = "message",
                .kind = PARAM_STRING,
                .offset = offsetof(AlwaysFailureParams, message),
                .fallback = "\"always fails\"",
                .doc = "The cause of its failure, such as \"update failed: {error}\"",
        },
        {},
};

const NodeType always_failure_type = {
        .name = "AlwaysFailure",
        .class = NODE_ACTION,
        .params = always_failure_params,
        .params_size = sizeof(AlwaysFailureParams),
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_SUCCEEDS | TYPE_INWARD,
        .summary = "Fails at once",
};

const char *const path_kind_names[] = { "any", "file", "directory", "not-empty", NULL };

static const Param path_exists_params[] = {
        {
                .name = "path",
                .kind = PARAM_STRING,
                .offset = offsetof(PathExistsParams, path),
                .format = &watched_path_format,
                .required = true,
                .title = true,
                .doc = "The path; symbolic links are followed",
        },
        {
                .name = "kind",
                .kind = PARAM_ENUM,
                .offset = offsetof(PathExistsParams, kind),
                .fallback = "\"any\"",
                .values = path_kind_names,
                .doc = "What it must be: anything; a regular file; a directory; not empty: a directory with entries or "
                       "a file with bytes",
        },
        UNKNOWN_PARAM(PathExistsParams),
        {},
};

const NodeType path_exists_type = {
        .name = "PathExists",
        .class = NODE_CONDITION,
        .params = path_exists_params,
        .params_size = sizeof(PathExistsParams),
        .summary = "True while a file or directory exists",
        .doc = "Follows the path by inotify, without polling. Directories on the path can be created and removed, "
               "symbolic links can change, and file systems can be mounted. The kernel does not report changes in "
               "/proc and /sys, nor changes that another machine makes in a network file system. The system's btd "
               "cannot see /home, /root, /tmp and /var/tmp, unless a drop-in of btd.service allows it.",
};
