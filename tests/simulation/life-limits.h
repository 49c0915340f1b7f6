/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The limits that each daemon is started with: see TROUBLE_ROOM, TROUBLE_LIMITS and TROUBLE_TOKEN.
 */

#include <stdbool.h>

void limits_open(void);

/* The options of the next daemon, such as "--limit=runs=1". Free with g_strfreev(). */
char **limits_next(void);

/* The present daemon allows runs less than they need, so those that it starts may fail. */
bool limits_are_low(void);
