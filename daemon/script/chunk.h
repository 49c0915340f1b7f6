/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Text that becomes a function of Lua.
 */

#include <lua.h>
#include <stddef.h>

#include "script/scripts.h"

/* In Lua's messages: "code:3: ...". */
#define CHUNK_NAME "code"

/* Leaves the function on the stack. -EINVAL: nothing; a text for people, and the byte of the code that it is about. */
int chunk_load(lua_State *lua, ScriptKind kind, const char *code, char **ret_error, size_t *ret_offset);
