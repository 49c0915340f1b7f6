/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>

#include "life-limits.h"
#include "orders.h"
#include "troubles.h"

static struct {
        Dice room, sizes;
        unsigned history; /* 0: the default */
        bool low;
} limits;

/* The trees of TROUBLE_LIMITS need more than this. */
#define VARIABLES_LOW 2u
#define RECORD_LOW 16u

void limits_open(void) {
        Dice token = troubles_dice(TROUBLE_TOKEN, 1);

        limits.room = troubles_dice(TROUBLE_ROOM, 0);
        limits.sizes = troubles_dice(TROUBLE_LIMITS, 0);
        limits.low = false;
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

        limits.low = troubles_have(TROUBLE_LIMITS) && dice_chance(&limits.sizes, 50);
        if (limits.low) {
                add(options, "variables-kib", VARIABLES_LOW);
                add(options, "journal-kib", RECORD_LOW);
        }

        g_ptr_array_add(options, NULL);
        return (char **) g_ptr_array_free(options, FALSE);
}

bool limits_are_low(void) {
        return limits.low;
}
