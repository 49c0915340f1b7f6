/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Compiles code to a function of Lua, and finds the place of a syntax error. scripts.c uses it.
 */

#include <lua.h>
#include <stddef.h>

#include "script/scripts.h"

/* In Lua's messages: "code:3: ...". */
#define CHUNK_NAME "code"

/* Leaves the function on the stack. -EINVAL: leaves nothing; with an error message, and the offset in the code. */
int chunk_load(lua_State *lua, ScriptKind kind, const char *code, char **ret_error, size_t *ret_offset);
