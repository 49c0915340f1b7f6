/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The functions that chunks can use. They only compute: none has access to the system, keeps state, or depends on
 * chance. Chunks cannot change them.
 */

#include <lua.h>
#include <stdbool.h>

/* Makes them the global names of the state. */
void sandbox_open(lua_State *lua);

/* Is it a function or a library? */
bool sandbox_is_name(const char *name);
bool sandbox_is_function(const char *name);
bool sandbox_has(const char *library, const char *member);
