/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Opens the libraries of Lua for chunks. Each library is opened as Lua has it; members that are not listed here are
 * removed, some are replaced (library.h), and chunks get the rest as a table that they cannot write to. The global
 * table itself is left to the variables.
 */

#include <glib.h>
#include <lauxlib.h>
#include <lualib.h>

#include "script/budget.h"
#include "script/library.h"
#include "script/sandbox.h"

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

/* For functions whose time depends on the length of a text. */
static int call_over_text(lua_State *lua) {
        size_t length = 0;

        if (lua_type(lua, 1) == LUA_TSTRING)
                lua_tolstring(lua, 1, &length);

        return library_call_original(lua, length / BYTES_PER_STEP);
}

/* utf8.codepoint returns at most as many values as it reads bytes. */
static int utf8_codepoint(lua_State *lua) {
        library_charge_text_results(lua);
        return library_call_original(lua, 0);
}

/* Shows no addresses of tables and functions. */
static int basic_tostring(lua_State *lua) {
        luaL_checkany(lua, 1);
        if (lua_type(lua, 1) == LUA_TTABLE || lua_type(lua, 1) == LUA_TFUNCTION)
                lua_pushstring(lua, luaL_typename(lua, 1));
        else
                luaL_tolstring(lua, 1, NULL);

        return 1;
}

static const luaL_Reg library_basic[] = {
        { "pairs", library_pairs },
        { "tonumber", call_over_text },
        { "tostring", basic_tostring },
        {},
};

static const luaL_Reg library_utf8[] = {
        { "codepoint", utf8_codepoint },
        { "len", call_over_text },
        { "offset", call_over_text },
        {},
};

typedef struct Library {
        const char *name; /* NULL: the functions outside of libraries */
        lua_CFunction open;
        const luaL_Reg *replacements;
        const char *const *members;
} Library;

static const char *const basic_members[] = { "assert",   "error",    "ipairs", "pairs", "select",
                                             "tonumber", "tostring", "type",   NULL };
static const char *const math_members[] = { "abs", "acos",       "asin", "atan", "ceil", "cos", "deg",
                                            "exp", "floor",      "fmod", "huge", "log",  "max", "maxinteger",
                                            "min", "mininteger", "modf", "pi",   "rad",  "sin", "sqrt",
                                            "tan", "tointeger",  "type", "ult",  NULL };
static const char *const string_members[] = { "byte",  "char",  "find", "format",  "gmatch", "gsub",  "len",
                                              "lower", "match", "rep",  "reverse", "sub",    "upper", NULL };
static const char *const table_members[] = { "concat", "insert", "remove", "sort", "unpack", NULL };
static const char *const utf8_members[] = { "char", "charpattern", "codepoint", "codes", "len", "offset", NULL };

static const luaL_Reg no_replacements[] = { {} };

static const Library basic = { .open = luaopen_base, .replacements = library_basic, .members = basic_members };
static const Library libraries[] = {
        { "math", luaopen_math, no_replacements, math_members },
        { "string", luaopen_string, library_string, string_members },
        { "table", luaopen_table, library_table, table_members },
        { "utf8", luaopen_utf8, library_utf8, utf8_members },
};

/* Replaces the table on top by one with only the listed members. */
static void keep_members(lua_State *lua, const Library *library) {
        lua_newtable(lua);
        for (const char *const *member = library->members; *member; member++) {
                lua_getfield(lua, -2, *member);
                lua_setfield(lua, -2, *member);
        }
        lua_remove(lua, -2);
}

static void replace_members(lua_State *lua, const Library *library) {
        for (const luaL_Reg *replacement = library->replacements; replacement->name; replacement++) {
                lua_getfield(lua, -1, replacement->name);
                lua_pushcclosure(lua, replacement->func, 1);
                lua_setfield(lua, -2, replacement->name);
        }
}

static void open_library(lua_State *lua, const Library *library) {
        lua_pushcfunction(lua, library->open);
        lua_call(lua, 0, 1);
        keep_members(lua, library);
        replace_members(lua, library);
}

static int on_written(lua_State *lua) {
        return luaL_error(lua, "library functions cannot be changed");
}

/* Replaces the table on top by a read-only view of it. */
static void protect(lua_State *lua) {
        lua_newtable(lua);
        lua_newtable(lua);
        lua_rotate(lua, -3, -1);
        lua_setfield(lua, -2, "__index");
        lua_pushcfunction(lua, on_written);
        lua_setfield(lua, -2, "__newindex");
        lua_setmetatable(lua, -2);
}

/* For ("text"):upper(). The rest of the metatable converts texts to numbers in arithmetic. */
static void share_with_texts(lua_State *lua) {
        lua_pushliteral(lua, "");
        lua_getmetatable(lua, -1);
        lua_pushvalue(lua, -3);
        lua_setfield(lua, -2, "__index");
        lua_pop(lua, 2);
}

void sandbox_open(lua_State *lua) {
        open_library(lua, &basic);
        for (size_t i = 0; i < G_N_ELEMENTS(libraries); i++) {
                open_library(lua, &libraries[i]);
                if (g_str_equal(libraries[i].name, "string"))
                        share_with_texts(lua);
                protect(lua);
                lua_setfield(lua, -2, libraries[i].name);
        }

        /* The variables get a global table of their own; other names are looked up in the sandbox. */
        lua_newtable(lua);
        lua_newtable(lua);
        lua_rotate(lua, -3, -1);
        lua_setfield(lua, -2, "__index");
        lua_setmetatable(lua, -2);
        lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

static const Library *find(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(libraries); i++)
                if (g_str_equal(libraries[i].name, name))
                        return &libraries[i];

        return NULL;
}

bool sandbox_is_function(const char *name) {
        return g_strv_contains(basic_members, name);
}

bool sandbox_is_name(const char *name) {
        return sandbox_is_function(name) || find(name);
}

bool sandbox_has(const char *library, const char *member) {
        const Library *found = find(library);

        return found && g_strv_contains(found->members, member);
}
