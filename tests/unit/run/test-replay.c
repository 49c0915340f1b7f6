/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Random runs: their replays are at each record where the run was, with its nodes, its variables, its history, its
 * timers, its leaves and its locks. The runs are the same each time; BTD_TEST_SEED, a number, makes others, and
 * tests/fuzz/fuzz-run.c looks for those whose replays differ.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random-replay.h"
#include "rounds.h"

#define TREES 250
#define DEPTH 5

/* Printed if a check fails. */
static char hint[64];

static void on_abort(int signal) {
        if (write(STDERR_FILENO, hint, strlen(hint)) < 0)
                return;
}

static guint32 first_seed(void) {
        const char *seed = g_getenv("BTD_TEST_SEED");

        return seed ? (guint32) strtoul(seed, NULL, 10) : 1;
}

/* Of those trees that can be loaded. */
static void check_random_trees(unsigned lives) {
        guint32 first = first_seed();
        unsigned n_loaded = 0;

        for (guint32 i = 0; i < rounds(TREES); i++) {
                g_autoptr(Dice) dice = dice_new(first + i);
                g_autoptr(Definition) definition = random_definition_new(dice, DEPTH);

                if (!definition)
                        continue;

                n_loaded++;
                snprintf(hint, sizeof(hint), "the first tree with BTD_TEST_SEED=%u\n", first + i);
                random_replay_check(definition, dice, lives, true);
        }

        g_assert_cmpuint(n_loaded, >, rounds(TREES) / 2);
}

static void test_whole(void) {
        check_random_trees(0);
}

/* What no random run has done was not compared with its replay. */
static void check_kinds(void) {
        for (EntryKind kind = 0; kind < ENTRY_KIND_MAX_; kind++)
                if (!random_replay_has_seen(kind))
                        g_error("no random run has the entry '%s', see tests/unit/helpers/random-inputs.c",
                                entry_kind_to_string(kind));
}

static void test_broken(void) {
        check_random_trees(3);
        check_kinds();
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        signal(SIGABRT, on_abort);

        g_test_add_func("/replay/whole", test_whole);
        g_test_add_func("/replay/broken", test_broken);
        return g_test_run();
}
