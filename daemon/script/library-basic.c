/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The functions that are in no table, and those for UTF-8. */

#include "script/budget.h"
#include <glib.h>

#include "script/library.h"

#define BYTES_PER_STEP 16
#define RESULTS_MAX 10000

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

void library_charge_results(lua_State *lua, lua_Integer first, lua_Integer last) {
        if (first > last)
                return;

        if ((lua_Unsigned) last - (lua_Unsigned) first >= RESULTS_MAX)
                luaL_error(lua, "more than " G_STRINGIFY(RESULTS_MAX) " values at once");
        budget_charge(lua, (lua_Unsigned) (last - first) + 1);
}

/* Those whose time depends on the length of a text. */
static int call_over_text(lua_State *lua) {
        size_t length = 0;

        if (lua_type(lua, 1) == LUA_TSTRING)
                lua_tolstring(lua, 1, &length);

        return library_call_original(lua, length / BYTES_PER_STEP);
}

/* What utf8.codepoint gives is at most as much as the bytes it looks at. */
static int utf8_codepoint(lua_State *lua) {
        library_charge_text_results(lua);
        return library_call_original(lua, 0);
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
        { "codepoint", utf8_codepoint },
        { "len", call_over_text },
        { "offset", call_over_text },
        {},
};
