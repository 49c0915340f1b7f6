/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each library is opened as Lua has it; what is not named here is removed, what has to be otherwise is replaced, and
 * chunks see the rest behind a table that cannot be written to. The global table itself is left to the variables.
 */

#include <glib.h>
#include <lauxlib.h>
#include <lualib.h>

#include "script/library.h"
#include "script/sandbox.h"

typedef struct Library {
        const char *name; /* NULL: those that are in no library */
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

/* The table on top becomes one that has only the members of the library. */
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
        return luaL_error(lua, "the functions that there are cannot be changed");
}

/* In the place of the table on top comes one that only shows it. */
static void protect(lua_State *lua) {
        lua_newtable(lua);
        lua_newtable(lua);
        lua_rotate(lua, -3, -1);
        lua_setfield(lua, -2, "__index");
        lua_pushcfunction(lua, on_written);
        lua_setfield(lua, -2, "__newindex");
        lua_setmetatable(lua, -2);
}

/* What ("text"):upper() finds. The rest of the metatable lets texts that are numbers be counted with. */
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

        /* A global table of its own, whose names are the variables; what it has not, the sandbox has. */
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
