/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Opens the libraries of Lua for chunks. Each library is opened as Lua has it; members that are not listed here are
 * removed, some are replaced (those over strings in library-string.c), and chunks get the rest as a table that they
 * cannot write to. The global table itself is left to the variables.
 */

#include <glib.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "basic/unit-escape.h"
#include "script/sandbox.h"

#define COUNT_PERIOD 50
#define GARBAGE_MAX ((size_t) 256 * 1024)

static Budget *budget_of(lua_State *lua) {
        return *(Budget **) lua_getextraspace(lua);
}

static void *allocate(void *userdata, void *block, size_t old_size, size_t new_size) {
        Budget *budget = userdata;
        size_t others = budget->used - (block ? old_size : 0);
        void *moved;

        if (new_size == 0) {
                free(block);
                budget->used = others;
                return NULL;
        }

        if (!block || new_size > old_size) {
                budget->exhausted |= new_size > budget->most || others > budget->most - new_size;
                if (budget->exhausted)
                        return NULL;
        }

        moved = realloc(block, new_size);
        if (!moved && block && new_size <= old_size)
                moved = block; /* Lua requires that shrinking a block succeeds */
        if (moved)
                budget->used = others + new_size;

        return moved;
}

/* Outside of an evaluation, only a lack of memory can raise an error. */
static int on_panic(lua_State *lua) {
        g_error("Lua: %s", lua_tostring(lua, -1));
        return 0;
}

lua_State *budget_new_state(Budget *budget) {
        lua_State *lua;

        *budget = (Budget){ .most = SIZE_MAX };
        lua = lua_newstate(allocate, budget);
        if (!lua)
                g_error("Out of memory");

        *(Budget **) lua_getextraspace(lua) = budget;
        lua_atpanic(lua, on_panic);
        lua_gc(lua, LUA_GCSTOP);
        return lua;
}

/* Raises the message with the place of the given level, like luaL_error(). */
static void raise_at(lua_State *lua, int level, const char *message) {
        luaL_where(lua, level);
        lua_pushstring(lua, message);
        lua_concat(lua, 2);
        lua_error(lua);
}

static void check_steps(lua_State *lua, int level) {
        if (budget_of(lua)->steps >= BUDGET_STEPS)
                raise_at(lua, level, "ran for more than " G_STRINGIFY(BUDGET_STEPS) " instructions");
}

static void on_count(lua_State *lua, lua_Debug *event) {
        Budget *budget = budget_of(lua);
        lua_Debug call;

        budget->steps += COUNT_PERIOD;
        check_steps(lua, 0);
        if (lua_getstack(lua, BUDGET_CALLS, &call))
                raise_at(lua, 0, "more than " G_STRINGIFY(BUDGET_CALLS) " nested function calls");
}

void budget_charge(lua_State *lua, uint64_t steps) {
        Budget *budget = budget_of(lua);

        budget->steps += MIN(steps, BUDGET_STEPS);
        check_steps(lua, 1);
}

uint64_t budget_steps_left(lua_State *lua) {
        const Budget *budget = budget_of(lua);

        return budget->steps < BUDGET_STEPS ? BUDGET_STEPS - budget->steps : 0;
}

size_t budget_lift(lua_State *lua) {
        Budget *budget = budget_of(lua);
        size_t most = budget->most;

        budget->most = SIZE_MAX;
        return most;
}

void budget_lower(lua_State *lua, size_t most) {
        budget_of(lua)->most = most;
}

void budget_begin(lua_State *lua) {
        Budget *budget = budget_of(lua);

        budget->most = budget->used + BUDGET_MEMORY;
        budget->exhausted = false;
        budget->steps = 0;
        lua_sethook(lua, on_count, LUA_MASKCOUNT, COUNT_PERIOD);
}

void budget_end(lua_State *lua) {
        Budget *budget = budget_of(lua);

        budget->most = SIZE_MAX;
        budget->exhausted = false;
}

bool budget_has_garbage(lua_State *lua) {
        const Budget *budget = budget_of(lua);

        return budget->used > budget->live + MAX(budget->live, GARBAGE_MAX);
}

void budget_collect(lua_State *lua) {
        Budget *budget = budget_of(lua);

        lua_gc(lua, LUA_GCCOLLECT);
        budget->live = budget->used;
}

#define BYTES_PER_STEP 16
#define STEPS_TO_WRITE 8
#define RESULTS_MAX 10000

int library_call_original(lua_State *lua, lua_Unsigned steps) {
        budget_charge(lua, steps);
        return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

/* For a function over a list: charges its length, and returns it. */
static lua_Integer charge_list(lua_State *lua, int index) {
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
                luaL_error(lua, "a function cannot return more than " G_STRINGIFY(RESULTS_MAX) " values");
        budget_charge(lua, (lua_Unsigned) (last - first) + 1);
}

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

/* Stable, so that the result does not depend on chance. A comparison that contradicts itself only gives a strange
 * order. */
static void sort_list(lua_State *lua, int list, lua_Integer length, Less less) {
        Sort sort = { .lua = lua, .less = less, .from = list };

        luaL_checkstack(lua, 8, NULL);
        lua_newtable(lua);
        sort.to = lua_gettop(lua);

        for (lua_Integer width = 1; width < length; width *= 2) {
                int from = sort.from;

                budget_charge(lua, (lua_Unsigned) length);
                for (lua_Integer begin = 1; begin <= length; begin += 2 * width)
                        merge(&sort, begin, MIN(begin + width, length + 1), MIN(begin + 2 * width, length + 1));
                sort.from = sort.to;
                sort.to = from;
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
        lua_Integer length = charge_list(lua, 1);

        if (!lua_isnoneornil(lua, 2))
                luaL_checktype(lua, 2, LUA_TFUNCTION);
        lua_settop(lua, 2);
        sort_list(lua, 1, length, lua_isnil(lua, 2) ? less_by_lua : less_by_function);
        return 0;
}

static int call_over_list(lua_State *lua) {
        charge_list(lua, 1);
        return library_call_original(lua, 0);
}

static int table_unpack(lua_State *lua) {
        lua_Integer last = lua_isnoneornil(lua, 3) ? luaL_len(lua, 1) : luaL_checkinteger(lua, 3);

        library_charge_results(lua, luaL_optinteger(lua, 2, 1), last);
        return library_call_original(lua, 0);
}

/* Writing a number takes longer than moving it. */
static int table_concat(lua_State *lua) {
        lua_Integer length = charge_list(lua, 1);

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

/* In order of key; Lua's own order depends on addresses. */
static int table_pairs(lua_State *lua) {
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

static const luaL_Reg library_table[] = {
        { "concat", table_concat }, { "insert", table_insert }, { "remove", table_remove },
        { "sort", table_sort },     { "unpack", table_unpack }, {},
};

/* For functions whose time depends on the length of a text. */
static int call_over_text(lua_State *lua) {
        size_t length = 0;

        if (lua_type(lua, 1) == LUA_TSTRING)
                lua_tolstring(lua, 1, &length);

        return library_call_original(lua, length / BYTES_PER_STEP);
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

/* A byte becomes at most "\xNN". The result is copied before an error of Lua can be raised, which would not free it. */
static int call_escape(lua_State *lua, char *(*escape)(const char *text)) {
        size_t length;
        const char *text = luaL_checklstring(lua, 1, &length);
        char *copy, *escaped;

        luaL_argcheck(lua, strlen(text) == length, 1, "the text contains a NUL character");
        budget_charge(lua, length);
        copy = lua_newuserdatauv(lua, strlen("\\xNN") * length + sizeof("-"), 0);
        escaped = escape(text);
        if (!escaped)
                return luaL_error(lua, "a path with '..' cannot be escaped");

        strcpy(copy, escaped);
        g_free(escaped);
        lua_pushstring(lua, copy);
        return 1;
}

static int basic_unit_escape(lua_State *lua) {
        return call_escape(lua, unit_escape);
}

static int basic_unit_escape_path(lua_State *lua) {
        return call_escape(lua, unit_escape_path);
}

/* Keys in the registry: the Blackboard, and how often its moment was read. */
static const char blackboard_key, moments_key;

void sandbox_set_blackboard(lua_State *lua, const Blackboard *blackboard) {
        lua_pushlightuserdata(lua, (void *) blackboard);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &blackboard_key);
}

static BlackboardMoment moment(lua_State *lua) {
        const Blackboard *blackboard;
        lua_Integer n;

        lua_rawgetp(lua, LUA_REGISTRYINDEX, &moments_key);
        n = lua_tointeger(lua, -1) + 1;
        lua_pushinteger(lua, n);
        lua_rawsetp(lua, LUA_REGISTRYINDEX, &moments_key);

        lua_rawgetp(lua, LUA_REGISTRYINDEX, &blackboard_key);
        blackboard = lua_touserdata(lua, -1);
        lua_pop(lua, 2);
        return blackboard ? blackboard_moment(blackboard, (uint64_t) n) : (BlackboardMoment){};
}

/* Two characters can become the name of a day, the month and the year. */
#define STEPS_PER_FORMAT_BYTE 16

/* Without a format, the seconds since 1970; with one, the local time as text. No error of Lua may be raised while the
 * text is held. */
static int basic_now(lua_State *lua) {
        lua_Integer seconds = (lua_Integer) (moment(lua).time / G_USEC_PER_SEC);
        const char *format = luaL_optstring(lua, 1, NULL);
        GDateTime *time;
        size_t most;
        bool known;
        char *text;

        if (!format) {
                lua_pushinteger(lua, seconds);
                return 1;
        }

        budget_charge(lua, strlen(format) * STEPS_PER_FORMAT_BYTE);
        most = budget_lift(lua);
        time = g_date_time_new_from_unix_local(seconds);
        text = time ? g_date_time_format(time, format) : NULL;
        known = text != NULL;
        lua_pushstring(lua, text);
        g_free(text);
        g_clear_pointer(&time, g_date_time_unref);
        budget_lower(lua, most);
        return known ? 1 : luaL_argerror(lua, 1, "the format is not valid; see btd-expressions(7)");
}

/* As math.random() of Lua: a number from 0 to below 1, a whole one from 1 to m, or from m to n. */
static int basic_random(lua_State *lua) {
        lua_Unsigned bits = moment(lua).random;
        lua_Integer low = lua_gettop(lua) > 1 ? luaL_checkinteger(lua, 1) : 1;
        lua_Integer high = lua_gettop(lua) > 0 ? luaL_checkinteger(lua, lua_gettop(lua) > 1 ? 2 : 1) : 0;
        lua_Unsigned width = (lua_Unsigned) high - (lua_Unsigned) low + 1;

        if (lua_gettop(lua) == 0) {
                lua_pushnumber(lua, (lua_Number) (bits >> 11) * 0x1p-53);
                return 1;
        }

        luaL_argcheck(lua, low <= high, 1, "the interval is empty");
        lua_pushinteger(lua, (lua_Integer) ((lua_Unsigned) low + (width == 0 ? bits : bits % width)));
        return 1;
}

static const luaL_Reg library_basic[] = {
        { "now", basic_now },
        { "pairs", table_pairs },
        { "random", basic_random },
        { "tonumber", call_over_text },
        { "tostring", basic_tostring },
        { "unit_escape", basic_unit_escape },
        { "unit_escape_path", basic_unit_escape_path },
        {},
};

static const luaL_Reg library_utf8[] = {
        /* It returns at most as many values as it reads bytes. */
        { "codepoint", library_call_over_part },
        { "len", call_over_text },
        { "offset", call_over_text },
        {},
};

typedef struct Library {
        const char *name; /* NULL: the functions outside of libraries */
        lua_CFunction open;
        const luaL_Reg *replacements;
        const luaL_Reg *additions; /* NULL: none */
        const char *const *members;
} Library;

static const char *const basic_members[] = { "now",         "random",           "assert",   "error",    "ipairs",
                                             "pairs",       "select",           "tonumber", "tostring", "type",
                                             "unit_escape", "unit_escape_path", NULL };
static const char *const math_members[] = { "abs", "acos",       "asin", "atan", "ceil", "cos", "deg",
                                            "exp", "floor",      "fmod", "huge", "log",  "max", "maxinteger",
                                            "min", "mininteger", "modf", "pi",   "rad",  "sin", "sqrt",
                                            "tan", "tointeger",  "type", "ult",  NULL };
static const char *const string_members[] = { "byte",  "char",  "find",  "format", "gmatch",  "gsub",
                                              "len",   "lower", "match", "rep",    "reverse", "sub",
                                              "upper", "bytes", "json",  "lines",  "words",   NULL };
static const char *const table_members[] = { "concat", "insert", "remove", "sort", "unpack", "json", "text", NULL };
static const char *const utf8_members[] = { "char", "charpattern", "codepoint", "codes", "len", "offset", NULL };

static const luaL_Reg no_replacements[] = { {} };

static const Library basic = { .open = luaopen_base, .replacements = library_basic, .members = basic_members };
static const Library libraries[] = {
        { "math", luaopen_math, no_replacements, NULL, math_members },
        { "string", luaopen_string, library_string, library_string_values, string_members },
        { "table", luaopen_table, library_table, library_table_values, table_members },
        { "utf8", luaopen_utf8, library_utf8, NULL, utf8_members },
};

static void open_library(lua_State *lua, const Library *library) {
        lua_pushcfunction(lua, library->open);
        lua_call(lua, 0, 1);

        /* A table with only the listed members replaces it. */
        lua_newtable(lua);
        for (const char *const *member = library->members; *member; member++) {
                lua_getfield(lua, -2, *member);
                lua_setfield(lua, -2, *member);
        }
        lua_remove(lua, -2);

        for (const luaL_Reg *replacement = library->replacements; replacement->name; replacement++) {
                lua_getfield(lua, -1, replacement->name);
                lua_pushcclosure(lua, replacement->func, 1);
                lua_setfield(lua, -2, replacement->name);
        }
        for (const luaL_Reg *addition = library->additions; addition && addition->name; addition++) {
                lua_pushcfunction(lua, addition->func);
                lua_setfield(lua, -2, addition->name);
        }
}

static int on_written(lua_State *lua) {
        return luaL_error(lua, "library functions cannot be changed");
}

void sandbox_open(lua_State *lua) {
        open_library(lua, &basic);
        for (size_t i = 0; i < G_N_ELEMENTS(libraries); i++) {
                open_library(lua, &libraries[i]);

                /* For ("text"):upper(). The rest of the metatable converts texts to numbers in arithmetic. */
                if (g_str_equal(libraries[i].name, "string")) {
                        lua_pushliteral(lua, "");
                        lua_getmetatable(lua, -1);
                        lua_pushvalue(lua, -3);
                        lua_setfield(lua, -2, "__index");
                        lua_pop(lua, 2);
                }

                /* A read-only view replaces the table. */
                lua_newtable(lua);
                lua_newtable(lua);
                lua_rotate(lua, -3, -1);
                lua_setfield(lua, -2, "__index");
                lua_pushcfunction(lua, on_written);
                lua_setfield(lua, -2, "__newindex");
                lua_setmetatable(lua, -2);
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
