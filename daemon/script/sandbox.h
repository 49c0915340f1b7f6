/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Owns the sandbox of chunks: the functions that they can use, and the limits of an evaluation. The functions only
 * compute: none has access to the system or keeps state. The time and random numbers come from the run, and the results
 * of evaluations are recorded. Chunks cannot change the functions. The limits are
 * a number of steps and of bytes. A step is an instruction, or the work of a library function that takes about the same
 * time. Both numbers depend only on the chunk and its variables, so the same chunk is never stopped on one machine and
 * completed on another. The time has no limit of its own: instructions that compare long texts take longer than others.
 */

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "script/blackboard.h"

#define BUDGET_STEPS 1000000
#define BUDGET_MEMORY (8 * 1024 * 1024)
#define BUDGET_MEMORY_TEXT "8 MiB"
#define BUDGET_CALLS 1000

typedef struct Budget {
        size_t used;    /* bytes that the state has allocated */
        size_t most;    /* the limit of these bytes */
        size_t live;    /* bytes after the last garbage collection */
        bool exhausted; /* it exceeded the limit, and gets no more until the end of the evaluation */
        uint64_t steps;
} Budget;

/* A Lua state with this budget, and nothing else in it. */
lua_State *budget_new_state(Budget *budget);

/* Between these two calls the limits apply. */
void budget_begin(lua_State *lua);
void budget_end(lua_State *lua);

/* Is there so much garbage that it should be collected? */
bool budget_has_garbage(lua_State *lua);
void budget_collect(lua_State *lua);

/* For library functions whose time depends on their arguments: counts steps before the work is done. Raises an error if
 * they exceed the limit. */
void budget_charge(lua_State *lua, uint64_t steps);
/* The number of steps that are left. */
uint64_t budget_steps_left(lua_State *lua);

/* Between these two, no memory is refused, so that no error of Lua is raised while a function holds something that Lua
 * does not know. What was used beyond the limit counts afterwards. */
size_t budget_lift(lua_State *lua);
void budget_lower(lua_State *lua, size_t most);

/* Makes them the global names of the state. */
void sandbox_open(lua_State *lua);

/* Where now() and random() of the next evaluation take their values from; borrowed. */
void sandbox_set_blackboard(lua_State *lua, const Blackboard *blackboard);

/* Is it a function or a library? */
bool sandbox_is_name(const char *name);
bool sandbox_is_function(const char *name);
bool sandbox_has(const char *library, const char *member);

/*
 * For the functions that replace Lua's own, because those could run forever, show addresses, or have results that
 * depend on chance. Each is a closure over the function that it replaces, and raises errors like that one.
 */

/* Charges the steps, then calls the function that is replaced. */
int library_call_original(lua_State *lua, lua_Unsigned steps);
/* For a function that returns the elements from first to last. Their number is limited, since a single instruction can
 * then process all of them. */
void library_charge_results(lua_State *lua, lua_Integer first, lua_Integer last);

/* The functions over strings, in library-string.c. Ends with an entry without a name. */
extern const luaL_Reg library_string[];
/* btd's own, in library-values.c; these replace nothing. */
extern const luaL_Reg library_string_values[];
extern const luaL_Reg library_table_values[];
/* Calls a function that returns the elements of a text from one position to another, like string.byte; charges their
 * number. */
int library_call_over_part(lua_State *lua);
