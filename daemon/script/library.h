/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Functions that stand in the place of Lua's own, since those could run for ever, show addresses, or give something
 * else each time. Each is a closure over the one that it replaces, and raises errors as that would. Ended by an entry
 * without a name.
 */

#include <lauxlib.h>

extern const luaL_Reg library_basic[];
extern const luaL_Reg library_string[];
extern const luaL_Reg library_table[];
extern const luaL_Reg library_utf8[];

/* In order of key, where Lua's goes by addresses. */
int library_pairs(lua_State *lua);

/* Goes on as the function that is replaced, after so many steps have been charged. */
int library_call_original(lua_State *lua, lua_Unsigned steps);
/* For a function that gives the elements from first to last: there may not be very many, since all that is done with
 * so many values at once is one instruction. */
void library_charge_results(lua_State *lua, lua_Integer first, lua_Integer last);
/* The same, when they are the places of a text, as the arguments of string.byte are. */
void library_charge_text_results(lua_State *lua);
/* For a function over a list: its length, charged for. */
lua_Integer library_charge_list(lua_State *lua, int index);
