/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What chunks may use of the machine: so and so many steps and bytes for each evaluation. A step is an
 * instruction, or what a function of the library does in about the same time. The number of both depends on nothing
 * but the chunk and its variables.
 */

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_STEPS 1000000
#define BUDGET_MEMORY (8 * 1024 * 1024)
#define BUDGET_MEMORY_TEXT "8 MiB"
#define BUDGET_CALLS 1000

typedef struct Budget {
        size_t used;    /* bytes that the state has allocated */
        size_t most;    /* that it may have */
        size_t live;    /* that it had when there was no garbage */
        bool exhausted; /* it has asked for more, and gets nothing until the end of the evaluation */
        uint64_t steps;
        int64_t start, processor_start; /* in ns; 0 until somebody has looked */
} Budget;

/* A Lua state with this budget, and nothing else in it. */
lua_State *budget_new_state(Budget *budget);

/* Between these two it is spent. */
void budget_begin(lua_State *lua);
void budget_end(lua_State *lua);

/* Is there so much garbage that it should be collected? */
bool budget_has_garbage(lua_State *lua);
void budget_collect(lua_State *lua);

/* For functions of the library whose time depends on what they are given, before they begin. Raises an error when it is
 * too much. */
void budget_charge(lua_State *lua, uint64_t steps);
/* How many may still be charged. */
uint64_t budget_steps_left(lua_State *lua);
