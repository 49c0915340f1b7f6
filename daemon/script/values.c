/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* JSON becomes values of Lua. An object is a table with a metatable, which has no other purpose: chunks cannot set one.
 */

#include <errno.h>
#include <json-c/linkhash.h>

#include "script/values.h"

/* The registry has the metatable of objects at the address of this. */
static const char object_key;

void values_prepare(lua_State *lua) {
        lua_newtable(lua);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &object_key);
}

static bool push_at_depth(lua_State *lua, json_object *value, unsigned depth);

static bool push_array(lua_State *lua, json_object *array, unsigned depth) {
        size_t length = json_object_array_length(array);

        lua_createtable(lua, (int) length, 0);
        for (size_t i = 0; i < length; i++) {
                if (!push_at_depth(lua, json_object_array_get_idx(array, i), depth + 1))
                        return false;
                lua_rawseti(lua, -2, (lua_Integer) i + 1);
        }

        return true;
}

static bool push_object(lua_State *lua, json_object *object, unsigned depth) {
        lua_createtable(lua, 0, json_object_object_length(object));
        json_object_object_foreach(object, key, member) {
                lua_pushstring(lua, key);
                if (!push_at_depth(lua, member, depth + 1))
                        return false;
                lua_rawset(lua, -3);
        }

        lua_rawgetp(lua, LUA_REGISTRYINDEX, &object_key);
        lua_setmetatable(lua, -2);
        return true;
}

static void push_integer(lua_State *lua, json_object *value) {
        int64_t integer = json_object_get_int64(value);

        if (integer == INT64_MAX && json_object_get_uint64(value) > INT64_MAX)
                lua_pushnumber(lua, (lua_Number) json_object_get_uint64(value));
        else
                lua_pushinteger(lua, integer);
}

static bool push_at_depth(lua_State *lua, json_object *value, unsigned depth) {
        json_type type = json_object_get_type(value);

        switch (type) {
        case json_type_null:
                lua_pushnil(lua);
                return true;
        case json_type_boolean:
                lua_pushboolean(lua, json_object_get_boolean(value));
                return true;
        case json_type_int:
                push_integer(lua, value);
                return true;
        case json_type_double:
                lua_pushnumber(lua, json_object_get_double(value));
                return true;
        case json_type_string:
                lua_pushlstring(lua, json_object_get_string(value), (size_t) json_object_get_string_len(value));
                return true;
        default:
                if (depth == VALUE_DEPTH_MAX || !lua_checkstack(lua, 4))
                        return false;
                return type == json_type_array ? push_array(lua, value, depth) : push_object(lua, value, depth);
        }
}

int value_push(lua_State *lua, json_object *value, char **ret_error) {
        if (push_at_depth(lua, value, 0))
                return 0;

        *ret_error = g_strdup("nested more than " G_STRINGIFY(VALUE_DEPTH_MAX) " deep");
        return -EINVAL;
}

static bool same_elements(json_object *a, json_object *b) {
        size_t n = MAX(json_object_array_length(a), json_object_array_length(b));

        for (size_t i = 0; i < n; i++)
                if (!value_same(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
                        return false;

        return true;
}

static bool same_members(json_object *a, json_object *b) {
        json_object_object_foreach(a, key, member) {
                if (!value_same(member, json_object_object_get(b, key)))
                        return false;
        }

        json_object_object_foreach(b, other_key, other_member) {
                if (other_member && !json_object_object_get_ex(a, other_key, NULL))
                        return false;
        }

        return true;
}

bool value_same(json_object *a, json_object *b) {
        if (json_object_is_type(a, json_type_array) && json_object_is_type(b, json_type_array))
                return same_elements(a, b);
        if (json_object_is_type(a, json_type_object) && json_object_is_type(b, json_type_object))
                return same_members(a, b);

        return json_object_equal(a, b);
}
