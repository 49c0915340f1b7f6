/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The variables of the outermost scope are in a table of their own, since others can have the same names. But when a
 * chunk uses one under both names, and they are the same variable, there must be only one place for it. So "_G" is an
 * empty table that looks up of each name which of the two tables it is in.
 */

#include "script/bindings.h"
#include "script/values.h"

/* Pushes the table that a name is in. */
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
        lua_pushvalue(lua, BINDINGS_PLACES);
        lua_pushcclosure(lua, function, 1);
        lua_setfield(lua, -2, name);
}

void bindings_prepare(lua_State *lua) {
        lua_pushglobaltable(lua);
        lua_newtable(lua);
        lua_newtable(lua);

        lua_newtable(lua);
        lua_newtable(lua);
        set_method(lua, "__index", outermost_get);
        set_method(lua, "__newindex", outermost_set);
        lua_setmetatable(lua, -2);
        bindings_clear(lua);
}

/* The table that a variable is in. */
static int place_of(const Blackboard *blackboard, const Use *use) {
        if (!use->is_outermost || (use->has_twin && blackboard_is_outermost(blackboard, use->key)))
                return BINDINGS_GLOBALS;

        return BINDINGS_VALUES;
}

/* The key is on top. */
static int load(lua_State *lua, int place, const char *key, json_object *value, char **ret_error) {
        g_autofree char *reason = NULL;
        int r = value_push(lua, value, &reason);

        if (r < 0) {
                *ret_error = g_strdup_printf("%s: %s", key, reason);
                return r;
        }

        lua_rawset(lua, place);
        return 0;
}

static void push_key(lua_State *lua, const Use *use) {
        lua_rawgeti(lua, LUA_REGISTRYINDEX, use->key_in_registry);
}

/* NULL when it is null or not set. Most often the same run asks again, and looking up would be most of the work. */
static json_object *value_of(const Blackboard *blackboard, Use *use) {
        if (use->scope_id != blackboard_id(blackboard)) {
                use->variable = blackboard_find(blackboard, use->name);
                use->scope_id = use->variable ? blackboard_id(blackboard) : 0;
        }

        return use->variable ? blackboard_variable_value(use->variable) : NULL;
}

static int load_variable(lua_State *lua, const Blackboard *blackboard, Use *use, char **ret_error) {
        int place = place_of(blackboard, use);

        if (use->is_outermost) {
                push_key(lua, use);
                lua_pushvalue(lua, place);
                lua_rawset(lua, BINDINGS_PLACES);
        }

        push_key(lua, use);
        return load(lua, place, use->key, value_of(blackboard, use), ret_error);
}

int bindings_load(const Script *script, const Blackboard *blackboard, json_object *const *extra, char **ret_error) {
        const char *const *names = script->extra;
        lua_State *lua = script->lua;
        int r = 0;

        for (unsigned i = 0; r == 0 && i < script->uses->len; i++)
                r = load_variable(lua, blackboard, &g_array_index(script->uses, Use, i), ret_error);

        for (unsigned i = 0; r == 0 && names && names[i]; i++) {
                lua_pushstring(lua, names[i]);
                r = load(lua, BINDINGS_GLOBALS, names[i], extra ? extra[i] : NULL, ret_error);
        }

        return r;
}

void bindings_push(const Script *script, const Blackboard *blackboard, const Use *use) {
        push_key(script->lua, use);
        lua_rawget(script->lua, place_of(blackboard, use));
}

static void clear(lua_State *lua, int table) {
        lua_pushnil(lua);
        while (lua_next(lua, table)) {
                lua_pop(lua, 1);
                lua_pushvalue(lua, -1);
                lua_pushnil(lua);
                lua_rawset(lua, table);
        }
}

void bindings_clear(lua_State *lua) {
        clear(lua, BINDINGS_GLOBALS);
        clear(lua, BINDINGS_VALUES);
        lua_pushvalue(lua, BINDINGS_OUTERMOST);
        lua_setfield(lua, BINDINGS_GLOBALS, "_G");
}
