/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The variables of the outermost scope are in a table of their own, since others can have the same names. But when a
 * chunk uses one under both names, and they are the same variable, there must be only one place for it. So "_G" is an
 * empty table whose metatable knows of each name in which of the two tables it is.
 */

#include <lauxlib.h>

#include "script/bindings.h"
#include "script/values.h"

/* Where the registry has the table of the outermost variables, and the table name -> table that "_G" looks into. */
static const char outermost_key, places_key;

/* Replaces the name on top by the table that it is in. */
static void push_place(lua_State *lua, int name) {
        lua_pushvalue(lua, name);
        lua_rawget(lua, lua_upvalueindex(1));
}

static int outermost_get(lua_State *lua) {
        push_place(lua, 2);
        lua_pushvalue(lua, 2);
        lua_rawget(lua, -2);
        return 1;
}

static int outermost_set(lua_State *lua) {
        push_place(lua, 2);
        lua_replace(lua, 1);
        lua_rawset(lua, 1);
        return 0;
}

static void set_method(lua_State *lua, const char *name, lua_CFunction function) {
        lua_rawgetp(lua, LUA_REGISTRYINDEX, &places_key);
        lua_pushcclosure(lua, function, 1);
        lua_setfield(lua, -2, name);
}

void bindings_prepare(lua_State *lua) {
        lua_newtable(lua);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &outermost_key);
        lua_newtable(lua);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &places_key);

        lua_newtable(lua);
        lua_newtable(lua);
        set_method(lua, "__index", outermost_get);
        set_method(lua, "__newindex", outermost_set);
        lua_setmetatable(lua, -2);
        lua_setglobal(lua, "_G");
}

/* Pushes the table that a variable is in. */
static void push_table(lua_State *lua, const Blackboard *blackboard, const Use *use) {
        bool is_apart = use->is_outermost && !(use->has_twin && blackboard_is_outermost(blackboard, use->key));

        if (is_apart)
                lua_rawgetp(lua, LUA_REGISTRYINDEX, &outermost_key);
        else
                lua_pushglobaltable(lua);
        if (!use->is_outermost)
                return;

        lua_rawgetp(lua, LUA_REGISTRYINDEX, &places_key);
        lua_pushstring(lua, use->key);
        lua_pushvalue(lua, -3);
        lua_rawset(lua, -3);
        lua_pop(lua, 1);
}

static void load_variable(lua_State *lua, const Blackboard *blackboard, const Use *use) {
        json_object *value = NULL;

        blackboard_get(blackboard, use->name, &value);
        push_table(lua, blackboard, use);
        lua_pushstring(lua, use->key);
        value_push(lua, value);
        lua_rawset(lua, -3);
        lua_pop(lua, 1);
}

void bindings_load(const Script *script, const Blackboard *blackboard, json_object *const *extra) {
        lua_State *lua = script->lua;

        for (unsigned i = 0; i < script->uses->len; i++)
                load_variable(lua, blackboard, &g_array_index(script->uses, Use, i));

        if (!script->extra)
                return;

        lua_pushglobaltable(lua);
        for (unsigned i = 0; script->extra[i]; i++) {
                lua_pushstring(lua, script->extra[i]);
                value_push(lua, extra ? extra[i] : NULL);
                lua_rawset(lua, -3);
        }
        lua_pop(lua, 1);
}

void bindings_push(const Script *script, const Blackboard *blackboard, const Use *use) {
        push_table(script->lua, blackboard, use);
        lua_pushstring(script->lua, use->key);
        lua_rawget(script->lua, -2);
        lua_remove(script->lua, -2);
}

static void clear(lua_State *lua, const char *key) {
        lua_pushstring(lua, key);
        lua_pushnil(lua);
        lua_rawset(lua, -3);
}

void bindings_clear(const Script *script, const Blackboard *blackboard) {
        lua_State *lua = script->lua;

        for (unsigned i = 0; i < script->uses->len; i++) {
                const Use *use = &g_array_index(script->uses, Use, i);

                push_table(lua, blackboard, use);
                clear(lua, use->key);
                lua_pop(lua, 1);
        }

        lua_pushglobaltable(lua);
        for (unsigned i = 0; script->extra && script->extra[i]; i++)
                clear(lua, script->extra[i]);
        lua_pop(lua, 1);
}
