/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Limits the steps, memory and time of an evaluation. Lua counts instructions, and allocates its memory here. The
 * garbage collector is off during an evaluation: otherwise the memory of a chunk would depend on when garbage is
 * collected, and a chunk close to the limit would spend its time collecting.
 *
 * A few instructions take long with long strings (a comparison can read megabytes). Counting does not limit these, so
 * the processor time is limited, too; a sensible chunk needs far less.
 */

#include <glib.h>
#include <lauxlib.h>
#include <stdlib.h>
#include <time.h>

#include "script/budget.h"

#define COUNT_PERIOD 50
#define TIME_MAX_NS (30 * INT64_C(1000000))
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

static int64_t now_ns(clockid_t clock) {
        struct timespec now;

        clock_gettime(clock, &now);
        return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Reading the processor time is a system call, so it is read only when enough time has passed on the clock. */
static bool took_long(Budget *budget) {
        if (budget->start == 0) {
                budget->start = now_ns(CLOCK_MONOTONIC);
                budget->processor_start = now_ns(CLOCK_THREAD_CPUTIME_ID);
                return false;
        }

        return now_ns(CLOCK_MONOTONIC) - budget->start > TIME_MAX_NS &&
               now_ns(CLOCK_THREAD_CPUTIME_ID) - budget->processor_start > TIME_MAX_NS;
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
                raise_at(lua, 0, "more than " G_STRINGIFY(BUDGET_CALLS) " functions called each other");
        if (took_long(budget))
                raise_at(lua, 0, "took longer than 30 ms");
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

void budget_begin(lua_State *lua) {
        Budget *budget = budget_of(lua);

        budget->most = budget->used + BUDGET_MEMORY;
        budget->exhausted = false;
        budget->steps = 0;
        budget->start = 0;
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
