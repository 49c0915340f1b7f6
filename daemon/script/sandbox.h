/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What there is for chunks to use: functions that compute, and nothing that reaches out, keeps anything, or gives
 * something else each time. Nothing of it can be changed.
 */

#include <lua.h>
#include <stdbool.h>

/* Makes them the global names of the state. */
void sandbox_open(lua_State *lua);

/* Is it a function or a library? */
bool sandbox_is_name(const char *name);
bool sandbox_is_function(const char *name);
bool sandbox_has(const char *library, const char *member);
