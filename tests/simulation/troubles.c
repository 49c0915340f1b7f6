/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Each kind of trouble has a rule that it tries to break, besides the rules that always hold (see ledger.h):
 *
 * start, stop, reset: a process is executed once for each start of its leaf, whatever an administrator has done with
 * its unit. A unit leaf succeeds only if its unit was up (down, executed) after its request. A job of an administrator
 * is never cancelled. (witness.h, judge.h, systemd.c)
 *
 * reload: the same, and nothing is concluded while systemd reads its units.
 *
 * forget: the same, if systemd has no trace of a unit any more.
 *
 * absence: what has ended before its limit has not timed out, however late that becomes known. (judge.h)
 *
 * shared: no leaf fails because another one was halted. (judge.h)
 *
 * clock: the history loses no run, and the oldest first if there are too many; a token starts a tree once. (history.h,
 * orders.h)
 *
 * follow: each run that has finished starts what on_finished says once. (orders.h)
 *
 * kept: each run begins with the values that the run before has left. (orders.h)
 *
 * replace, retry: a token starts a tree once; a run that has taken something over is recovered.
 *
 * A rule that the present daemon breaks only with one kind of trouble is checked only with it: troubles_check().
 */

#include <glib.h>
#include <stdio.h>

#include "trace.h"
#include "troubles.h"

typedef struct Kind {
        const char *name, *text;
        unsigned percent;  /* of the simulations that have it */
        const char *fault; /* of the present daemon, which it finds; NULL: none */
        bool wanted;
} Kind;

static Kind kinds[TROUBLE_N_] = {
        [TROUBLE_WINDOW] = { .name = "window",
                             .text = "the bus carries few calls at a time, and services are slow",
                             .percent = 30 },
        [TROUBLE_CUT] = { .name = "cut", .text = "a daemon that stops is killed before it has stopped", .percent = 30 },
        [TROUBLE_TOKEN] = { .name = "token",
                            .text = "users start trees with tokens, again and again, and ask for their outcome",
                            .percent = 30 },
        [TROUBLE_ROOM] = { .name = "room",
                           .text = "the limit of runs is reached when runs are to be restarted or started",
                           .percent = 30 },
        [TROUBLE_FILES] = { .name = "files",
                            .text = "the file of a tree is missing or broken for two seconds",
                            .percent = 30 },
        [TROUBLE_LIMITS] = { .name = "limits",
                             .text = "the next daemon has other limits of variables and run records",
                             .percent = 30 },
        [TROUBLE_FAR] = { .name = "far",
                          .text = "the history is on another disk than /run, so run records are copied",
                          .percent = 30 },
        [TROUBLE_DISK] = { .name = "disk", .text = "the disk of the history is full for a moment", .percent = 30 },
        [TROUBLE_PROCESSOR] = { .name = "processor",
                                .text = "Lua code takes long, and the next daemon has a slower processor",
                                .percent = 30 },
        [TROUBLE_START] = { .name = "start",
                            .text = "an administrator starts, restarts and reloads units",
                            .percent = 30 },
        [TROUBLE_STOP] = { .name = "stop",
                           .text = "an administrator stops units, also those of processes and in the middle of a start",
                           .percent = 30 },
        [TROUBLE_RESET] = { .name = "reset", .text = "an administrator resets the failures of units", .percent = 30 },
        [TROUBLE_RELOAD] = { .name = "reload",
                             .text = "systemd reads its configuration again, or executes itself anew, while btd is "
                                     "away",
                             .percent = 30 },
        [TROUBLE_FORGET] = { .name = "forget",
                             .text = "systemd forgets what nobody references while btd is away: the stored connections "
                                     "are lost",
                             .percent = 30 },
        [TROUBLE_ABSENCE] = { .name = "absence",
                              .text = "btd is away for seconds, minutes and hours, and deadlines pass meanwhile",
                              .percent = 30 },
        [TROUBLE_CLOCK] = { .name = "clock",
                            .text = "the clock is set forward and back, by hours, days and years; boards boot in 1970; "
                                    "users start trees with tokens",
                            .percent = 30 },
        [TROUBLE_SHARED] = { .name = "shared",
                             .text = "leaves of several runs, and an administrator, wait for the same units; some are "
                                     "halted",
                             .percent = 30 },
        [TROUBLE_FOLLOW] = { .name = "follow", .text = "runs that have finished start other trees", .percent = 30 },
        [TROUBLE_KEPT] = { .name = "kept", .text = "scripts change a kept variable", .percent = 30 },
        [TROUBLE_REPLACE] = { .name = "replace",
                              .text = "users start trees in place of those that are running",
                              .percent = 20 },
        [TROUBLE_RETRY] = { .name = "retry",
                            .text = "users start runs that take over what has succeeded in others",
                            .percent = 20 },
};

static struct {
        uint64_t seed;
        bool all;
        bool has[TROUBLE_N_];
} troubles;

bool troubles_want(const char *name) {
        for (TroubleKind kind = 0; kind < TROUBLE_N_; kind++)
                if (g_str_equal(kinds[kind].name, name)) {
                        kinds[kind].wanted = true;
                        return true;
                }

        return false;
}

void troubles_want_all(void) {
        troubles.all = true;
}

char *troubles_wanted(void) {
        GString *text = g_string_new(troubles.all ? " --all" : "");

        for (TroubleKind kind = 0; kind < TROUBLE_N_; kind++)
                if (kinds[kind].wanted)
                        g_string_append_printf(text, " --trouble=%s", kinds[kind].name);

        return g_string_free(text, FALSE);
}

void troubles_print(void) {
        for (TroubleKind kind = 0; kind < TROUBLE_N_; kind++) {
                const Kind *it = &kinds[kind];

                printf("%s: %s\n", it->name, it->text);
                if (it->fault)
                        printf("    off, because it finds a fault: %s\n", it->fault);
        }
}

/* A kind that is wanted by its name is in each simulation. */
void troubles_throw(uint64_t seed, bool calm) {
        troubles.seed = seed;
        for (TroubleKind kind = 0; kind < TROUBLE_N_; kind++) {
                const Kind *it = &kinds[kind];
                Dice dice = dice_of(seed, 100, kind, 0);
                bool thrown = dice_chance(&dice, it->percent) && (!it->fault || troubles.all);

                troubles.has[kind] = !calm && (it->wanted || thrown);
                if (troubles.has[kind])
                        trace("trouble: %s", it->text);
        }
        troubles.has[TROUBLE_TOKEN] |= troubles.has[TROUBLE_CLOCK];
}

bool troubles_have(TroubleKind kind) {
        return troubles.has[kind];
}

bool troubles_check(TroubleKind kind) {
        return troubles.has[kind] || !kinds[kind].fault || troubles.all;
}

Dice troubles_dice(TroubleKind kind, uint64_t number) {
        return dice_of(troubles.seed, 101, kind, number);
}
