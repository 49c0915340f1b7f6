/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib.h>
#include <inttypes.h>

#include "administrator.h"
#include "clock.h"
#include "event-queue.h"
#include "life.h"
#include "systemd.h"
#include "trace.h"
#include "trouble.h"
#include "troubles.h"

/* Most runs have ended by then. */
#define SPAN_USEC UINT64_C(3000000)
#define DEEDS_MOST 10u
#define USUAL_LIFE_USEC 500000u
#define AWAY_DEEDS_MOST 3u

static struct {
        Dice dice;
        unsigned n_trees;
} administrator;

static void act(const char *type, bool failed) {
        g_autofree char *unit = systemd_pick_unit(&administrator.dice, failed);

        if (!unit)
                return;

        trace("an administrator: %s %s", type, unit);
        systemd_administer(unit, type);
}

static void on_start(void *userdata) {
        static const char *const types[] = { "start", "restart", "reload" };

        act(types[dice_below(&administrator.dice, G_N_ELEMENTS(types))], false);
}

static void on_stop(void *userdata) {
        act("stop", false);
}

static void on_reset(void *userdata) {
        act("reset-failed", true);
}

static void on_reload(void *userdata) {
        systemd_reload(&administrator.dice, dice_chance(&administrator.dice, 50));
}

static void on_halt(void *userdata) {
        trouble_halt((unsigned) dice_below(&administrator.dice, administrator.n_trees));
}

/* By hours, days or years. */
static void on_jump(void *userdata) {
        static const int64_t hours[] = { 1, 24, 24 * 40, 24 * 365, 24 * 365 * 20 };
        int64_t by = hours[dice_below(&administrator.dice, G_N_ELEMENTS(hours))];

        if (dice_chance(&administrator.dice, 50))
                by = -by;
        trace("the clock jumps by %" PRIi64 " hours", by);
        clock_jump(by * 3600 * 1000000);
}

static const struct {
        TroubleKind kind;
        EventDo deed;
} deeds[] = {
        { TROUBLE_START, on_start }, { TROUBLE_STOP, on_stop },     { TROUBLE_STOP, on_halt },
        { TROUBLE_RESET, on_reset }, { TROUBLE_RELOAD, on_reload }, { TROUBLE_SHARED, on_halt },
        { TROUBLE_CLOCK, on_jump },
};

/* How many of each kind of deed, at most; after: this time. */
static void plan(unsigned most, uint64_t after, uint64_t span) {
        for (unsigned i = 0; i < G_N_ELEMENTS(deeds); i++)
                if (troubles_have(deeds[i].kind))
                        for (uint64_t n = dice_below(&administrator.dice, most + 1); n > 0; n--)
                                event_queue_add(after + dice_below(&administrator.dice, span), deeds[i].deed, NULL,
                                                NULL);
}

void administrator_open(unsigned n_trees) {
        administrator.dice = troubles_dice(TROUBLE_START, 0);
        administrator.n_trees = n_trees;
        if (troubles_have(TROUBLE_CLOCK) && dice_chance(&administrator.dice, 30))
                clock_forget_date();
        plan(DEEDS_MOST, 0, SPAN_USEC);
}

/* From a second to some hours. */
static uint64_t absence(void) {
        static const uint64_t most[] = { 1, 1, 5, 60, 3600, 4 * 3600 };

        return dice_below(&administrator.dice, most[dice_below(&administrator.dice, G_N_ELEMENTS(most))] * 1000000);
}

uint64_t administrator_span(uint64_t usec) {
        if (troubles_have(TROUBLE_ABSENCE) && dice_chance(&administrator.dice, 40))
                usec = absence();
        if (usec == 0)
                return usec;

        if (troubles_have(TROUBLE_FORGET) && dice_chance(&administrator.dice, 50))
                life_drop_stored();
        plan(AWAY_DEEDS_MOST, 0, MIN(usec, SPAN_USEC));
        plan(1, usec, USUAL_LIFE_USEC);
        return usec;
}
