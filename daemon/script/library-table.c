/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Replaces Lua's functions over tables: those that visit all elements, and those that sort them. */

#include <glib.h>
#include <stdbool.h>

#include "script/budget.h"
#include "script/library.h"

#define STEPS_TO_WRITE 8

/* Are the values at two places of the stack in this order, and not equal? */
typedef bool (*Less)(lua_State *lua, int a, int b);

typedef struct Sort {
        lua_State *lua;
        Less less;
        int from, to; /* where on the stack the tables are */
} Sort;

static void merge(Sort *sort, lua_Integer begin, lua_Integer middle, lua_Integer end) {
        lua_Integer left = begin, right = middle;
        lua_State *lua = sort->lua;

        for (lua_Integer i = begin; i < end; i++) {
                bool is_right = left == middle;

                if (left < middle && right < end) {
                        lua_rawgeti(lua, sort->from, left);
                        lua_rawgeti(lua, sort->from, right);
                        is_right = sort->less(lua, lua_gettop(lua), lua_gettop(lua) - 1);
                        lua_pop(lua, 2);
                }

                lua_rawgeti(lua, sort->from, is_right ? right++ : left++);
                lua_rawseti(lua, sort->to, i);
        }
}

static void swap_tables(Sort *sort) {
        int from = sort->from;

        sort->from = sort->to;
        sort->to = from;
}

/* Stable, so that the result does not depend on chance. A comparison that contradicts itself only gives a strange
 * order. */
static void sort_list(lua_State *lua, int list, lua_Integer length, Less less) {
        Sort sort = { .lua = lua, .less = less, .from = list };

        luaL_checkstack(lua, 8, NULL);
        lua_newtable(lua);
        sort.to = lua_gettop(lua);

        for (lua_Integer width = 1; width < length; width *= 2) {
                budget_charge(lua, (lua_Unsigned) length);
                for (lua_Integer begin = 1; begin <= length; begin += 2 * width)
                        merge(&sort, begin, MIN(begin + width, length + 1), MIN(begin + 2 * width, length + 1));
                swap_tables(&sort);
        }

        for (lua_Integer i = 1; sort.from != list && i <= length; i++) {
                lua_rawgeti(lua, sort.from, i);
                lua_rawseti(lua, list, i);
        }
        lua_pop(lua, 1);
}

static bool less_by_lua(lua_State *lua, int a, int b) {
        return lua_compare(lua, a, b, LUA_OPLT);
}

/* The function is the second argument. */
static bool less_by_function(lua_State *lua, int a, int b) {
        bool is_less;

        lua_pushvalue(lua, 2);
        lua_pushvalue(lua, a);
        lua_pushvalue(lua, b);
        lua_call(lua, 2, 1);
        is_less = lua_toboolean(lua, -1);
        lua_pop(lua, 1);
        return is_less;
}

static int table_sort(lua_State *lua) {
        lua_Integer length = library_charge_list(lua, 1);

        if (!lua_isnoneornil(lua, 2))
                luaL_checktype(lua, 2, LUA_TFUNCTION);
        lua_settop(lua, 2);
        sort_list(lua, 1, length, lua_isnil(lua, 2) ? less_by_lua : less_by_function);
        return 0;
}

static int call_over_list(lua_State *lua) {
        library_charge_list(lua, 1);
        return library_call_original(lua, 0);
}

static int table_unpack(lua_State *lua) {
        lua_Integer last = lua_isnoneornil(lua, 3) ? luaL_len(lua, 1) : luaL_checkinteger(lua, 3);

        library_charge_results(lua, luaL_optinteger(lua, 2, 1), last);
        return library_call_original(lua, 0);
}

/* Writing a number takes longer than moving it. */
static int table_concat(lua_State *lua) {
        lua_Integer length = library_charge_list(lua, 1);

        return library_call_original(lua, (lua_Unsigned) MIN(length, BUDGET_STEPS) * STEPS_TO_WRITE);
}

/* Inserting at the end moves no elements. */
static int table_insert(lua_State *lua) {
        return lua_gettop(lua) <= 2 ? library_call_original(lua, 0) : call_over_list(lua);
}

static int table_remove(lua_State *lua) {
        return lua_gettop(lua) <= 1 ? library_call_original(lua, 0) : call_over_list(lua);
}

static int rank(lua_State *lua, int index) {
        switch (lua_type(lua, index)) {
        case LUA_TNUMBER:
                return 0;
        case LUA_TSTRING:
                return 1;
        case LUA_TBOOLEAN:
                return 2;
        default:
                return luaL_error(lua, "the keys of this table have no order (a %s is among them)",
                                  luaL_typename(lua, index));
        }
}

static bool less_by_key(lua_State *lua, int a, int b) {
        int rank_a = rank(lua, a), rank_b = rank(lua, b);

        if (rank_a != rank_b)
                return rank_a < rank_b;
        if (rank_a == 2)
                return lua_toboolean(lua, a) < lua_toboolean(lua, b);

        return lua_compare(lua, a, b, LUA_OPLT);
}

/* Upvalues: the table, its keys in order, and how many have been given. */
static int pairs_next(lua_State *lua) {
        lua_Integer i = lua_tointeger(lua, lua_upvalueindex(3));

        for (;;) {
                lua_settop(lua, 0);
                if (lua_rawgeti(lua, lua_upvalueindex(2), ++i) == LUA_TNIL)
                        return 1;
                lua_pushvalue(lua, 1);
                if (lua_rawget(lua, lua_upvalueindex(1)) != LUA_TNIL)
                        break;
        }

        lua_pushinteger(lua, i);
        lua_replace(lua, lua_upvalueindex(3));
        return 2;
}

int library_pairs(lua_State *lua) {
        lua_Integer n = 0;

        luaL_checktype(lua, 1, LUA_TTABLE);
        lua_settop(lua, 1);
        lua_newtable(lua);
        lua_pushnil(lua);
        while (lua_next(lua, 1)) {
                lua_pop(lua, 1);
                lua_pushvalue(lua, -1);
                lua_rawseti(lua, 2, ++n);
        }

        budget_charge(lua, (lua_Unsigned) n);
        sort_list(lua, 2, n, less_by_key);
        lua_pushinteger(lua, 0);
        lua_pushcclosure(lua, pairs_next, 3);
        return 1;
}

const luaL_Reg library_table[] = {
        { "concat", table_concat }, { "insert", table_insert }, { "remove", table_remove },
        { "sort", table_sort },     { "unpack", table_unpack }, {},
};
