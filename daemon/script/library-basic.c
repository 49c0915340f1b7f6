/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The functions that are in no table, and those for UTF-8. */

#include "script/budget.h"
#include "script/library.h"

#define BYTES_PER_STEP 16

int library_call_original(lua_State *lua, lua_Unsigned steps) {
        budget_charge(lua, steps);
        return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

lua_Integer library_charge_list(lua_State *lua, int index) {
        lua_Integer length;

        luaL_checktype(lua, index, LUA_TTABLE);
        length = luaL_len(lua, index);
        budget_charge(lua, (lua_Unsigned) length);
        return length;
}

/* Those whose time depends on the length of a text. */
static int call_over_text(lua_State *lua) {
        size_t length = 0;

        if (lua_type(lua, 1) == LUA_TSTRING)
                lua_tolstring(lua, 1, &length);

        return library_call_original(lua, length / BYTES_PER_STEP);
}

/* Tables and functions have no address here. */
static int basic_tostring(lua_State *lua) {
        luaL_checkany(lua, 1);
        if (lua_type(lua, 1) == LUA_TTABLE || lua_type(lua, 1) == LUA_TFUNCTION)
                lua_pushstring(lua, luaL_typename(lua, 1));
        else
                luaL_tolstring(lua, 1, NULL);

        return 1;
}

const luaL_Reg library_basic[] = {
        { "pairs", library_pairs },
        { "tonumber", call_over_text },
        { "tostring", basic_tostring },
        {},
};

const luaL_Reg library_utf8[] = {
        { "codepoint", call_over_text },
        { "len", call_over_text },
        { "offset", call_over_text },
        {},
};
