/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Implements btd's own functions for the values in texts: lines, words, JSON and bytes. A text that has no such value
 * gives nil and a message, as it often comes from a program or a service, and that is no mistake of the tree.
 */

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json-parse.h"
#include "basic/json-weight.h"
#include "script/sandbox.h"
#include "script/values.h"

#define BYTES_PER_STEP 16
#define JSON_BYTES_PER_STEP 4
#define JSON_LENGTH_MAX (1024 * 1024u)
#define JSON_WEIGHT_MAX (16 * 1024 * 1024u)

/* The parts of a text between these separators, as a list. */
static int split(lua_State *lua, const char *separators, bool with_empty) {
        size_t length;
        const char *text = luaL_checklstring(lua, 1, &length), *end = text + length;
        lua_Integer n = 0;

        budget_charge(lua, length / BYTES_PER_STEP);
        lua_settop(lua, 1);
        lua_newtable(lua);
        for (const char *start = text, *stop; start < end; start = stop + 1) {
                for (stop = start; stop < end && !(*stop && strchr(separators, *stop)); stop++)
                        ;
                if (stop == start && !with_empty)
                        continue;

                budget_charge(lua, 1);
                lua_pushlstring(lua, start, (size_t) (stop - start));
                lua_rawseti(lua, 2, ++n);
        }

        values_mark_list(lua);
        return 1;
}

static int string_lines(lua_State *lua) {
        return split(lua, "\n", true);
}

static int string_words(lua_State *lua) {
        return split(lua, " \t\n\v\f\r", false);
}

static int push_problem(lua_State *lua, const char *problem) {
        lua_pushnil(lua);
        lua_pushstring(lua, problem);
        return 2;
}

/* No error of Lua may be raised while the value is held. */
static int string_json(lua_State *lua) {
        size_t length, most;
        const char *text = luaL_checklstring(lua, 1, &length);
        g_autofree char *number = NULL, *error = NULL;
        json_object *value;
        int r;

        if (length > JSON_LENGTH_MAX)
                return push_problem(lua, "the JSON is longer than 1 MiB");

        budget_charge(lua, length / JSON_BYTES_PER_STEP);
        if (json_text_weight(text, length) > JSON_WEIGHT_MAX)
                return push_problem(lua, "the JSON has too many values");

        r = json_parse(text, length, JSON_NESTING_MAX, &value, &number);
        g_clear_pointer(&number, g_free);
        if (r < 0)
                return push_problem(lua, r == -ERANGE  ? "a number does not fit into 64 bits"
                                         : r == -E2BIG ? "the text is " JSON_TOO_DEEP
                                                       : "the text is not JSON");

        most = budget_lift(lua);
        lua_settop(lua, 1);
        r = value_push(lua, value, &error);
        json_object_put(value);
        g_clear_pointer(&error, g_free);
        budget_lower(lua, most);
        return r < 0 ? push_problem(lua, "the text is not JSON") : 1;
}

static int table_json(lua_State *lua) {
        g_autoptr(json_object) value = NULL;
        g_autofree char *error = NULL;
        size_t length = 0, most;
        const char *text;
        int r;

        luaL_checkany(lua, 1);
        lua_settop(lua, 1);
        most = budget_lift(lua);
        r = value_read(lua, 1, "", &value, &error);
        if (r >= 0) {
                text = json_object_to_json_string_length(value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
                                                         &length);
                lua_pushlstring(lua, value ? text : "null", value ? length : strlen("null"));
        } else
                lua_pushstring(lua, error);
        g_clear_pointer(&value, json_object_put);
        g_clear_pointer(&error, g_free);
        budget_lower(lua, most);

        budget_charge(lua, length / JSON_BYTES_PER_STEP);
        return r < 0 ? luaL_error(lua, "%s", lua_tostring(lua, -1)) : 1;
}

static int string_bytes(lua_State *lua) {
        size_t length;
        const char *text = luaL_checklstring(lua, 1, &length);

        budget_charge(lua, length);
        lua_settop(lua, 1);
        lua_createtable(lua, (int) MIN(length, BUDGET_STEPS), 0);
        for (size_t i = 0; i < length; i++) {
                lua_pushinteger(lua, (guchar) text[i]);
                lua_rawseti(lua, 2, (lua_Integer) i + 1);
        }

        values_mark_list(lua);
        return 1;
}

/* The text of bytes, as D-Bus has them in file names: a NUL at the end is left out, and what is not UTF-8 is
 * replaced, so that the text can be stored in a variable. */
static int table_text(lua_State *lua) {
        lua_Integer length;
        char *bytes, *valid;
        size_t most;

        luaL_checktype(lua, 1, LUA_TTABLE);
        lua_settop(lua, 1);
        length = luaL_len(lua, 1);
        budget_charge(lua, (lua_Unsigned) length);
        bytes = lua_newuserdatauv(lua, (size_t) length + 1, 0);
        for (lua_Integer i = 0; i < length; i++) {
                bool is_byte = lua_rawgeti(lua, 1, i + 1) == LUA_TNUMBER && lua_isinteger(lua, -1) &&
                               lua_tointeger(lua, -1) >= 0 && lua_tointeger(lua, -1) <= G_MAXUINT8;

                if (!is_byte)
                        return push_problem(lua, "the list has more than bytes, the numbers from 0 to 255");
                bytes[i] = (char) lua_tointeger(lua, -1);
                lua_pop(lua, 1);
        }
        if (length > 0 && bytes[length - 1] == 0)
                length--;

        most = budget_lift(lua);
        valid = g_utf8_make_valid(bytes, length);
        lua_pushstring(lua, valid);
        g_free(valid);
        budget_lower(lua, most);
        return 1;
}

const luaL_Reg library_string_values[] = {
        { "bytes", string_bytes }, { "json", string_json }, { "lines", string_lines }, { "words", string_words }, {},
};

const luaL_Reg library_table_values[] = { { "json", table_json }, { "text", table_text }, {} };
