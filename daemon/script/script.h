/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What is kept of a chunk that has been compiled.
 */

#include <lua.h>

#include "script/names.h"
#include "script/scripts.h"

/* A variable that a chunk has to do with. */
typedef struct Use {
        const char *name; /* "key" or "@key", as in script_reads() */
        const char *key;
        int key_in_registry;
        bool is_outermost;
        bool has_twin; /* the chunk uses both "key" and "@key" */
        /* Where it was found, and from which scope. */
        const BlackboardVariable *variable;
        uint64_t scope_id;
} Use;

struct Script {
        lua_State *lua;
        int function; /* in the registry */
        ScriptKind kind;
        char *code;
        const char *const *extra; /* borrowed; NULL when there are none */
        Names names;
        GArray *uses; /* Use */
};
