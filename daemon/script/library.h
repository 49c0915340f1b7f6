/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Functions that replace Lua's own in the sandbox, because those could run forever, show addresses, or have results
 * that depend on chance. Each is a closure over the function that it replaces, and raises errors like that one. The
 * tables end with an entry without a name.
 */

#include <lauxlib.h>

extern const luaL_Reg library_string[];
extern const luaL_Reg library_table[];

/* In order of key; Lua's own order depends on addresses. */
int library_pairs(lua_State *lua);

/* Charges the steps, then calls the function that is replaced. */
int library_call_original(lua_State *lua, lua_Unsigned steps);
/* For a function that returns the elements from first to last. Their number is limited, since a single instruction can
 * then process all of them. */
void library_charge_results(lua_State *lua, lua_Integer first, lua_Integer last);
/* The same for positions in a text, like the arguments of string.byte. */
void library_charge_text_results(lua_State *lua);
/* For a function over a list: charges its length, and returns it. */
lua_Integer library_charge_list(lua_State *lua, int index);
