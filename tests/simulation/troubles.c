/* SPDX-License-Identifier: LGPL-2.1-or-later */

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
                             .percent = 30,
                             .fault = "a tick sends waiting calls of other leaves: the run cannot be recovered" },
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
}

bool troubles_have(TroubleKind kind) {
        return troubles.has[kind];
}

Dice troubles_dice(TroubleKind kind, uint64_t number) {
        return dice_of(troubles.seed, 101, kind, number);
}
