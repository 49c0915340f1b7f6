/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Script: runs code that reads and sets variables. */

#include "leaves/kinds.h"
#include "leaves/registry.h"
#include "run/leaf.h"
#include "script/script-status.h"

typedef struct ScriptParams {
        const Script *code;
} ScriptParams;

static Status script_start(Leaf *leaf) {
        const ScriptParams *params = leaf->params;
        Cause *cause = NULL;
        Status status = script_status_of_code(params->code, leaf->blackboard, &cause);

        if (cause)
                leaf_give_cause(leaf, cause);
        return status;
}

static const Param script_params[] = {
        {
                .name = "code",
                .kind = PARAM_CODE,
                .offset = offsetof(ScriptParams, code),
                .required = true,
                .title = true,
                .doc = "Statements in Lua, which read and assign variables, like \"tries = tries + 1\"",
        },
        {},
};

const LeafKind script_kind = { .start = script_start };

const NodeType script_type = {
        .name = "Script",
        .class = NODE_ACTION,
        .flags = TYPE_IMMEDIATE | TYPE_NEVER_FAILS | TYPE_INWARD,
        .params = script_params,
        .params_size = sizeof(ScriptParams),
        .summary = "Computes with the variables of the run, and sets them",
        .doc = "Succeeds when its code has run to its end. Code that cannot be run ends the run in ERROR, and sets "
               "nothing.",
};
