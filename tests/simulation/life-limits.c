/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "life-limits.h"
#include "orders.h"
#include "troubles.h"

static struct {
        Dice room, sizes, processors;
        uint64_t lua_usec;
        unsigned history; /* 0: the default */
        bool begun, low;
} limits;

/* The trees of TROUBLE_LIMITS need more than this. */
#define VARIABLES_LOW 2u
#define RECORD_LOW 16u

#define LUA_USEC 2u
#define LUA_SLOW_USEC 100u

void limits_open(void) {
        Dice token = troubles_dice(TROUBLE_TOKEN, 1);

        limits.room = troubles_dice(TROUBLE_ROOM, 0);
        limits.processors = troubles_dice(TROUBLE_PROCESSOR, 0);
        limits.sizes = troubles_dice(TROUBLE_LIMITS, 0);
        limits.begun = limits.low = false;
        limits.history =
                troubles_have(TROUBLE_TOKEN) && dice_chance(&token, 40) ? 2 + (unsigned) dice_below(&token, 5) : 0;
        if (limits.history > 0)
                orders_set_history(limits.history);
}

static void add(GPtrArray *options, const char *limit, unsigned value) {
        g_ptr_array_add(options, g_strdup_printf("--limit=%s=%u", limit, value));
}

char **limits_next(void) {
        GPtrArray *options = g_ptr_array_new();

        if (limits.history > 0)
                add(options, "history", limits.history);
        if (troubles_have(TROUBLE_ROOM) && dice_chance(&limits.room, 60))
                add(options, "runs", 1 + (unsigned) dice_below(&limits.room, 2));
        if (troubles_have(TROUBLE_ROOM) && dice_chance(&limits.room, 30))
                add(options, "runs-of-a-caller", 1);

        limits.low = limits.begun && troubles_have(TROUBLE_LIMITS) && dice_chance(&limits.sizes, 50);
        limits.lua_usec = !troubles_have(TROUBLE_PROCESSOR)                     ? 0
                          : limits.begun && dice_chance(&limits.processors, 50) ? LUA_SLOW_USEC
                                                                                : LUA_USEC;
        limits.begun = true;
        if (limits.low) {
                add(options, "variables-kib", VARIABLES_LOW);
                add(options, "journal-kib", RECORD_LOW);
        }

        g_ptr_array_add(options, NULL);
        return (char **) g_ptr_array_free(options, FALSE);
}

uint64_t limits_lua_usec(void) {
        return limits.lua_usec;
}

bool limits_are_low(void) {
        return limits.low;
}
