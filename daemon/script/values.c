/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Converts JSON to values of Lua and back, if JSON has such values. Lists and objects are tables with a metatable, by
 * which they are compared by value; it also marks objects. Chunks cannot set one. */

#include <errno.h>
#include <json-c/linkhash.h>
#include <math.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "basic/json-text.h"
#include "basic/sorted.h"
#include "script/blackboard.h"
#include "script/sandbox.h"
#include "script/values.h"

/* The keys of the metatables in the registry are these addresses. */
static const char list_key, object_key;

/* The same of a table of the large numbers of an evaluation: those above INT64_MAX, for which Lua has only floats. They
 * are the keys; the values are the numbers themselves, as integers of Lua with the same bits, or false if several
 * numbers have the same float. */
static const char large_key;

/* Have they the same keys, with the same values? */
static bool same_tables(lua_State *lua, int a, int b, unsigned depth) {
        lua_Integer n = 0;

        if (depth == JSON_NESTING_MAX)
                luaL_error(lua, "the compared values are " JSON_TOO_DEEP);
        luaL_checkstack(lua, 8, NULL);

        for (lua_pushnil(lua); lua_next(lua, a); lua_pop(lua, 2), n++) {
                int top = lua_gettop(lua) + 1;
                bool same;

                budget_charge(lua, 1);
                lua_pushvalue(lua, top - 2);
                lua_rawget(lua, b);
                same = lua_rawequal(lua, top - 1, top) || (lua_istable(lua, top - 1) && lua_istable(lua, top) &&
                                                           same_tables(lua, top - 1, top, depth + 1));
                if (!same) {
                        lua_settop(lua, top - 3);
                        return false;
                }
        }
        for (lua_pushnil(lua); lua_next(lua, b); lua_pop(lua, 1), n--)
                budget_charge(lua, 1);

        return n == 0;
}

static int lists_or_objects_are_same(lua_State *lua) {
        lua_pushboolean(lua, same_tables(lua, 1, 2, 0));
        return 1;
}

void values_prepare(lua_State *lua) {
        const char *const keys[] = { &list_key, &object_key };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                lua_newtable(lua);
                lua_pushcfunction(lua, lists_or_objects_are_same);
                lua_setfield(lua, -2, "__eq");
                lua_rawsetp(lua, LUA_REGISTRYINDEX, keys[i]);
        }
}

static void mark(lua_State *lua, const char *key) {
        lua_rawgetp(lua, LUA_REGISTRYINDEX, key);
        lua_setmetatable(lua, -2);
}

void values_mark_list(lua_State *lua) {
        mark(lua, &list_key);
}

void values_begin(lua_State *lua) {
        lua_pushnil(lua);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &large_key);
}

static void note_large(lua_State *lua, uint64_t integer) {
        if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &large_key) == LUA_TNIL) {
                lua_pop(lua, 1);
                lua_newtable(lua);
                lua_pushvalue(lua, -1);
                lua_rawsetp(lua, LUA_REGISTRYINDEX, &large_key);
        }

        lua_pushnumber(lua, (lua_Number) integer);
        lua_pushvalue(lua, -1);
        if (lua_rawget(lua, -3) != LUA_TNIL && (uint64_t) lua_tointeger(lua, -1) != integer)
                lua_pushboolean(lua, false);
        else
                lua_pushinteger(lua, (lua_Integer) integer);
        lua_remove(lua, -2);
        lua_rawset(lua, -3);
        lua_pop(lua, 1);
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

        values_mark_list(lua);
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

        mark(lua, &object_key);
        return true;
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
                if (json_object_get_int64(value) == INT64_MAX && json_object_get_uint64(value) > INT64_MAX) {
                        note_large(lua, json_object_get_uint64(value));
                        lua_pushnumber(lua, (lua_Number) json_object_get_uint64(value));
                } else
                        lua_pushinteger(lua, json_object_get_int64(value));
                return true;
        case json_type_double:
                lua_pushnumber(lua, json_object_get_double(value));
                return true;
        case json_type_string:
                lua_pushlstring(lua, json_object_get_string(value), (size_t) json_object_get_string_len(value));
                return true;
        default:
                if (depth == JSON_NESTING_MAX || !lua_checkstack(lua, 8))
                        return false;
                return type == json_type_array ? push_array(lua, value, depth) : push_object(lua, value, depth);
        }
}

int value_push(lua_State *lua, json_object *value, char **ret_error) {
        if (push_at_depth(lua, value, 0))
                return 0;

        *ret_error = g_strdup(JSON_TOO_DEEP);
        return -EINVAL;
}

bool value_same(json_object *a, json_object *b) {
        if (json_object_is_type(a, json_type_array) && json_object_is_type(b, json_type_array)) {
                size_t n = MAX(json_object_array_length(a), json_object_array_length(b));

                for (size_t i = 0; i < n; i++)
                        if (!value_same(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
                                return false;

                return true;
        }

        if (json_object_is_type(a, json_type_object) && json_object_is_type(b, json_type_object)) {
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

        return blackboard_same_value(a, b);
}

/* The largest JSON of one value; the same string or table can be in it a thousand times. */
#define COST_MAX BUDGET_MEMORY
#define COST_OF_VALUE 64

/* A table that is being read, and the current element or member. */
typedef struct Level {
        const void *table;
        lua_Integer index;
        const char *name; /* NULL: the index is used */
} Level;

/* The state of reading one value. */
typedef struct Reader {
        lua_State *lua;
        size_t cost;
        unsigned depth;
        Level levels[JSON_NESTING_MAX];
        const char *name;
        char *error;
} Reader;

static json_object *read_at(Reader *reader, int index);

/* The message begins with the place: "NAME.list[2]". */
static json_object *fail(Reader *reader, const char *reason) {
        g_autoptr(GString) text = g_string_new(reader->name);

        if (reader->error)
                return NULL;

        for (unsigned i = 0; i < reader->depth; i++) {
                const Level *level = &reader->levels[i];

                if (level->name)
                        g_string_append_printf(text, "%s%s", text->len > 0 ? "." : "", level->name);
                else if (level->index > 0)
                        g_string_append_printf(text, "[%lld]", (long long) level->index);
        }

        g_string_append_printf(text, "%s%s", text->len > 0 ? ": " : "", reason);
        reader->error = g_string_free(g_steal_pointer(&text), false);
        return NULL;
}

/* For errors of the value as a whole. */
static json_object *fail_at_all(Reader *reader, const char *reason) {
        reader->depth = 0;
        return fail(reader, reason);
}

/* NULL: the number was computed, or it cannot be told which one it was. */
static json_object *read_large(Reader *reader, lua_Number number) {
        lua_State *lua = reader->lua;
        json_object *value = NULL;
        int type;

        if (lua_rawgetp(lua, LUA_REGISTRYINDEX, &large_key) == LUA_TNIL) {
                lua_pop(lua, 1);
                return NULL;
        }

        lua_pushnumber(lua, number);
        type = lua_rawget(lua, -2);
        if (type == LUA_TNUMBER)
                value = json_object_new_uint64((uint64_t) lua_tointeger(lua, -1));
        else if (type == LUA_TBOOLEAN)
                fail(reader,
                     "Lua cannot tell this number from another one, as both are larger than 9223372036854775807");
        lua_pop(lua, 2);
        return value;
}

static json_object *read_number(Reader *reader, int index) {
        lua_Number number;
        json_object *value;

        if (lua_isinteger(reader->lua, index))
                return json_object_new_int64(lua_tointeger(reader->lua, index));

        number = lua_tonumber(reader->lua, index);
        if (number > (lua_Number) INT64_MAX / 2 && (value = read_large(reader, number)))
                return value;
        if (reader->error)
                return NULL;
        if (isnan(number))
                return fail(reader, "NaN (the result of 0/0) is not a JSON number");
        if (isinf(number))
                return fail(reader, "infinity (the result of 1/0) is not a JSON number");

        return json_double(number);
}

static json_object *read_string(Reader *reader, int index) {
        size_t length, left;
        const char *text = lua_tolstring(reader->lua, index, &length), *p = text, *end;

        reader->cost += length;

        /* JSON texts can contain NUL. */
        for (left = length; !g_utf8_validate(p, (gssize) left, &end); p = end + 1) {
                if (end == p + left || *end)
                        return fail(reader, "the text is not valid UTF-8");
                left -= (size_t) (end - p) + 1;
        }

        return json_object_new_string_len(text, (int) length);
}

/* The keys of a table, which decide whether it becomes an array or an object. */
typedef struct Keys {
        lua_Integer last; /* the greatest of the numbers */
        lua_Integer n_numbers;
        GPtrArray *names; /* borrowed from Lua */
} Keys;

static bool note_keys(Reader *reader, int index, Keys *keys) {
        lua_State *lua = reader->lua;

        for (lua_pushnil(lua); lua_next(lua, index); lua_pop(lua, 1)) {
                const char *problem = NULL;

                if (lua_type(lua, -2) == LUA_TSTRING) {
                        size_t length;
                        const char *name = lua_tolstring(lua, -2, &length);

                        if (!g_utf8_validate(name, (gssize) length, NULL))
                                problem = "a key is not valid UTF-8";
                        g_ptr_array_add(keys->names, (void *) name);
                } else if (lua_isinteger(lua, -2) && lua_tointeger(lua, -2) >= 1) {
                        keys->n_numbers++;
                        keys->last = MAX(keys->last, lua_tointeger(lua, -2));
                } else
                        problem = "the keys of a table must be names, or numbers from 1 on";

                if (problem) {
                        fail(reader, problem);
                        lua_pop(lua, 2);
                        return false;
                }
        }

        if (keys->n_numbers > 0 && keys->names->len > 0)
                return fail(reader, "a table with both names and numbers as keys is neither a list nor an object");
        if (keys->last / 2 > keys->n_numbers)
                return fail(reader, "more than half of the list is missing");

        return true;
}

static json_object *read_array(Reader *reader, int index, lua_Integer length) {
        g_autoptr(json_object) array = json_object_new_array_ext((int) MAX(length, 1));
        Level *level = &reader->levels[reader->depth - 1];

        for (level->index = 1; level->index <= length; level->index++) {
                json_object *element;

                lua_rawgeti(reader->lua, index, level->index);
                element = read_at(reader, -1);
                lua_pop(reader->lua, 1);
                if (reader->error)
                        return NULL;

                json_object_array_add(array, element);
        }

        return g_steal_pointer(&array);
}

static json_object *read_object(Reader *reader, int index, GPtrArray *names) {
        g_autoptr(json_object) object = json_object_new_object();
        Level *level = &reader->levels[reader->depth - 1];

        g_ptr_array_sort(names, compare_texts);
        for (unsigned i = 0; i < names->len; i++) {
                json_object *member;

                level->name = names->pdata[i];
                lua_pushstring(reader->lua, level->name);
                lua_rawget(reader->lua, index);
                member = read_at(reader, -1);
                lua_pop(reader->lua, 1);
                if (reader->error)
                        return NULL;

                json_object_object_add(object, level->name, member);
        }

        return g_steal_pointer(&object);
}

static json_object *read_table(Reader *reader, int index) {
        const void *table = lua_topointer(reader->lua, index);
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        Keys keys = { .names = names };
        bool was_object = false;
        json_object *value = NULL;

        for (unsigned i = 0; i < reader->depth; i++)
                if (reader->levels[i].table == table)
                        return fail(reader, "a table that contains itself cannot be stored in a variable");
        if (reader->depth == JSON_NESTING_MAX || !lua_checkstack(reader->lua, 8))
                return fail_at_all(reader, JSON_TOO_DEEP);

        reader->levels[reader->depth++] = (Level){ .table = table };
        index = lua_absindex(reader->lua, index);
        if (note_keys(reader, index, &keys)) {
                /* An empty table may have been made from an object. */
                if (lua_getmetatable(reader->lua, index)) {
                        lua_rawgetp(reader->lua, LUA_REGISTRYINDEX, &object_key);
                        was_object = lua_rawequal(reader->lua, -1, -2);
                        lua_pop(reader->lua, 2);
                }
                value = names->len > 0 || (keys.last == 0 && was_object) ? read_object(reader, index, names)
                                                                         : read_array(reader, index, keys.last);
        }
        if (!reader->error)
                reader->depth--;

        return value;
}

static json_object *read_at(Reader *reader, int index) {
        int type = lua_type(reader->lua, index);

        reader->cost += COST_OF_VALUE;
        if (reader->cost > COST_MAX)
                return fail_at_all(reader, "the value is too large");

        switch (type) {
        case LUA_TNIL:
                return NULL;
        case LUA_TBOOLEAN:
                return json_object_new_boolean(lua_toboolean(reader->lua, index));
        case LUA_TNUMBER:
                return read_number(reader, index);
        case LUA_TSTRING:
                return read_string(reader, index);
        case LUA_TTABLE:
                return read_table(reader, index);
        default:
                return fail(reader, "a function cannot be stored in a variable");
        }
}

int value_read(lua_State *lua, int index, const char *name, json_object **ret_value, char **ret_error) {
        Reader reader = { .lua = lua, .name = name };
        json_object *value = read_at(&reader, index);

        if (reader.error) {
                *ret_error = g_steal_pointer(&reader.error);
                return -EINVAL;
        }

        *ret_value = value;
        return 0;
}
