/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The limits that each daemon is started with, and the speed of its processor: see TROUBLE_ROOM, TROUBLE_LIMITS,
 * TROUBLE_TOKEN and TROUBLE_PROCESSOR.
 */

#include <stdbool.h>
#include <stdint.h>

void limits_open(void);

/* The options of the next daemon, such as "--limit=runs=1". Free with g_strfreev(). */
char **limits_next(void);

/* How long its processor takes for 50 instructions of Lua, in microseconds. */
uint64_t limits_lua_usec(void);

/* The present daemon allows runs less than they need, so those that it starts may fail. */
bool limits_are_low(void);
