/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Values of Lua become JSON, if JSON has such values. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "script/budget.h"
#include "script/values.h"

/* What one value may come to as JSON: the same string or table can be in it a thousand times. */
#define COST_MAX BUDGET_MEMORY
#define COST_OF_VALUE 64

/* A table that is being read, and which of its elements or members. */
typedef struct Level {
        const void *table;
        lua_Integer index;
        const char *name; /* NULL: the index counts */
} Level;

/* On the way from a table to JSON. */
typedef struct Reader {
        lua_State *lua;
        size_t cost;
        unsigned depth;
        Level levels[VALUE_DEPTH_MAX];
        const char *name;
        char *error;
} Reader;

static json_object *read_at(Reader *reader, int index);

/* "NAME.list[2]" */
static GString *describe_place(const Reader *reader) {
        GString *place = g_string_new(reader->name);

        for (unsigned i = 0; i < reader->depth; i++) {
                const Level *level = &reader->levels[i];

                if (level->name)
                        g_string_append_printf(place, "%s%s", place->len > 0 ? "." : "", level->name);
                else if (level->index > 0)
                        g_string_append_printf(place, "[%lld]", (long long) level->index);
        }

        return place;
}

static json_object *fail(Reader *reader, const char *reason) {
        g_autoptr(GString) place = describe_place(reader);

        if (!reader->error)
                reader->error = place->len > 0 ? g_strdup_printf("%s: %s", place->str, reason) : g_strdup(reason);

        return NULL;
}

/* About the value as a whole. */
static json_object *fail_at_all(Reader *reader, const char *reason) {
        reader->depth = 0;
        return fail(reader, reason);
}

static json_object *read_number(Reader *reader, int index) {
        lua_Number number;

        if (lua_isinteger(reader->lua, index))
                return json_object_new_int64(lua_tointeger(reader->lua, index));

        number = lua_tonumber(reader->lua, index);
        if (isnan(number))
                return fail(reader, "NaN (which 0/0 gives) is no number of JSON");
        if (isinf(number))
                return fail(reader, "infinity (which 1/0 gives) is no number of JSON");

        return json_object_new_double(number);
}

/* NUL is a character like others to JSON. */
static bool is_utf8(const char *text, size_t length) {
        const char *end;

        while (!g_utf8_validate(text, (gssize) length, &end)) {
                if (end == text + length || *end)
                        return false;
                length -= (size_t) (end - text) + 1;
                text = end + 1;
        }

        return true;
}

static json_object *read_string(Reader *reader, int index) {
        size_t length;
        const char *text = lua_tolstring(reader->lua, index, &length);

        reader->cost += length;
        if (!is_utf8(text, length))
                return fail(reader, "the text is not valid UTF-8");

        return json_object_new_string_len(text, (int) length);
}

/* What the keys of a table make of it. */
typedef struct Keys {
        lua_Integer last; /* the greatest of the numbers */
        lua_Integer n_numbers;
        GPtrArray *names; /* borrowed from Lua */
} Keys;

static bool note_key(Reader *reader, Keys *keys) {
        lua_State *lua = reader->lua;

        if (lua_type(lua, -2) == LUA_TSTRING) {
                size_t length;
                const char *name = lua_tolstring(lua, -2, &length);

                if (!g_utf8_validate(name, (gssize) length, NULL))
                        return fail(reader, "a key is not valid UTF-8") != NULL;
                g_ptr_array_add(keys->names, (void *) name);
                return true;
        }

        if (!lua_isinteger(lua, -2) || lua_tointeger(lua, -2) < 1)
                return fail(reader, "the keys of a table must be names, or numbers from 1 on") != NULL;

        keys->n_numbers++;
        keys->last = MAX(keys->last, lua_tointeger(lua, -2));
        return true;
}

static bool note_keys(Reader *reader, int index, Keys *keys) {
        lua_State *lua = reader->lua;

        lua_pushnil(lua);
        while (lua_next(lua, index)) {
                if (!note_key(reader, keys)) {
                        lua_pop(lua, 2);
                        return false;
                }
                lua_pop(lua, 1);
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

static int compare_names(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

static json_object *read_object(Reader *reader, int index, GPtrArray *names) {
        g_autoptr(json_object) object = json_object_new_object();
        Level *level = &reader->levels[reader->depth - 1];

        g_ptr_array_sort(names, compare_names);
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

/* An empty table that has been an object? */
static bool was_object(lua_State *lua, int index) {
        if (!lua_getmetatable(lua, index))
                return false;

        lua_pop(lua, 1);
        return true;
}

static json_object *read_keys(Reader *reader, int index) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        Keys keys = { .names = names };

        if (!note_keys(reader, index, &keys))
                return NULL;
        if (names->len > 0 || (keys.last == 0 && was_object(reader->lua, index)))
                return read_object(reader, index, names);

        return read_array(reader, index, keys.last);
}

static json_object *read_table(Reader *reader, int index) {
        const void *table = lua_topointer(reader->lua, index);
        json_object *value;

        for (unsigned i = 0; i < reader->depth; i++)
                if (reader->levels[i].table == table)
                        return fail(reader, "a table that contains itself cannot be kept in a variable");
        if (reader->depth == VALUE_DEPTH_MAX || !lua_checkstack(reader->lua, 4))
                return fail_at_all(reader, "nested more than " G_STRINGIFY(VALUE_DEPTH_MAX) " deep");

        reader->levels[reader->depth++] = (Level){ .table = table };
        value = read_keys(reader, lua_absindex(reader->lua, index));
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
                return fail(reader, "a function cannot be kept in a variable");
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
