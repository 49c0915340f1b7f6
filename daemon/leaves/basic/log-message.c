/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Log: writes a message to the log. */

#include "basic/log.h"
#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf.h"

typedef struct LogParams {
        const char *message;
        int level;
} LogParams;

/* In the order of syslog(3), so the index is the level. */
static const char *const level_names[] = {
        "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", NULL,
};

/* Records the message, so that the run's event log has it, too. */
static json_object *memory_of(const LogParams *params) {
        json_object *memory = json_object_new_object();

        json_object_object_add(memory, "message", json_object_new_string(params->message));
        json_object_object_add(memory, "level", json_object_new_string(level_names[params->level]));
        return memory;
}

static Status log_start(Leaf *leaf) {
        const LogParams *params = leaf->params;
        const LogSubject subject = { .tree = leaf->tree, .run = leaf->run, .node = leaf->name };

        if (leaf->durable)
                leaf_set_memo(leaf, memory_of(params));
        log_message(params->level, &subject, "%s", params->message);
        return STATUS_SUCCESS;
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

const LeafKind log_kind = { .start = log_start };

const NodeType log_type = {
        .name = "Log",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS,
        .params = log_params,
        .params_size = sizeof(LogParams),
        .summary = "Writes a message to the journal, with its tree, run and node",
};
